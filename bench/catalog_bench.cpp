// Measures the catalog: a refresh of one upstream of 100 tools, alone and among 1,000 such upstreams, a look-up, and a
// page of a list. With BENCH_MEMORY set, prints the resident memory per tool to standard error.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench.hpp"
#include "catalog/view/catalog.hpp"
#include "catalog/view/view.hpp"

namespace proteus {
namespace {

using namespace catalog;

constexpr int kTools = 100;
constexpr int kUpstreams = 1000;

// Returns tools of about half a kilobyte each. `version` is part of the descriptions and of the names of the first
// `renamed` tools.
std::vector<std::string> definitions(int version, int renamed) {
  std::vector<std::string> out;
  for (int i = 0; i < kTools; ++i) {
    const int name = i < renamed ? 1000 + version * renamed + i : i;
    out.push_back(fmt::format(
        R"({{"name":"list_transactions_{}","title":"Transactions","description":"Everything that was booked on an account )"
        R"(between two days, newest first, at most a hundred at once. Version {}.","inputSchema":{{"type":"object",)"
        R"("properties":{{"account":{{"type":"string","description":"The account's number"}},"from":{{"type":"string",)"
        R"("format":"date"}},"to":{{"type":"string","format":"date"}},"limit":{{"type":"integer","minimum":1,"maximum":100}}}},)"
        R"("required":["account"]}},"annotations":{{"readOnlyHint":true}}}})",
        name, version));
  }
  return out;
}

SnapshotPointer snapshot(const std::string& upstream, std::uint64_t version, const std::vector<std::string>& texts,
                         const SnapshotPointer& previous) {
  RawListing listing;
  listing.definitions[Kind::tool] = std::vector<std::string_view>(texts.begin(), texts.end());
  return build_snapshot(UpstreamName(upstream), version, std::move(listing), {upstream + "_", NameStyle::as_is}, {},
                        previous)
      .value();
}

std::string upstream_name(int i) { return fmt::format("upstream{}", i); }

std::unique_ptr<Catalog> filled(int upstreams) {
  auto catalog = std::make_unique<Catalog>();
  std::vector<UpstreamName> order;
  for (int i = 0; i < upstreams; ++i)
    order.emplace_back(upstream_name(i));
  if (!catalog->set_order(order)) std::abort();
  const auto texts = definitions(0, 0);
  for (int i = 0; i < upstreams; ++i) {
    if (!catalog->publish(snapshot(upstream_name(i), 1, texts, nullptr))) std::abort();
  }
  return catalog;
}

enum class Step { publish, build_and_publish };

// Publishes the `versions` in turn.
void refresh(benchmark::State& state, Catalog& catalog, const std::vector<std::vector<std::string>>& versions,
             Step step) {
  const std::string name = upstream_name(0);
  std::uint64_t version = catalog.current()->find(UpstreamName(name))->version();
  for (auto _ : state) {
    ++version;
    if (step == Step::publish) {
      state.PauseTiming();
      auto one = snapshot(name, version, versions[version % versions.size()], nullptr);
      state.ResumeTiming();
      auto published = catalog.publish(std::move(one));
      benchmark::DoNotOptimize(published);
      continue;
    }
    const auto before = catalog.current()->find(UpstreamName(name));
    auto published = catalog.publish(snapshot(name, version, versions[version % versions.size()], before));
    benchmark::DoNotOptimize(published);
  }
}

void find(benchmark::State& state, Catalog& catalog, int upstreams) {
  CatalogReader reader(catalog);
  std::vector<std::string> names;
  for (int i = 0; i < 1024; ++i)
    names.push_back(fmt::format("{}_list_transactions_{}", upstream_name(i * 7 % upstreams), i * 13 % kTools));
  std::size_t at = 0;
  for (auto _ : state) {
    const View view(reader.current());
    auto found = view.find(Kind::tool, names[at++ % names.size()]);
    if (!found) state.SkipWithError("a tool is missing");
    benchmark::DoNotOptimize(found);
  }
}

void page(benchmark::State& state, Catalog& catalog) {
  CatalogReader reader(catalog);
  for (auto _ : state) {
    const View view(reader.current());
    auto page = view.page(Kind::tool, {}, 1000);
    benchmark::DoNotOptimize(page);
  }
}

void restricted(benchmark::State& state, Catalog& catalog) {
  for (auto _ : state) {
    const View view(catalog.current(), {Access::only({"upstream1*", "upstream7"}), {}, {}});
    benchmark::DoNotOptimize(view);
  }
}

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void tell_memory(std::size_t before) {
  const std::size_t texts = [] {
    std::size_t bytes = 0;
    for (const auto& text : definitions(0, 0))
      bytes += text.size() + upstream_name(999).size() + 2;
    return bytes / kTools;
  }();
  const std::size_t bytes = (resident_bytes() - before) / (kTools * kUpstreams);
  std::fprintf(stderr, "memory per tool: %zu bytes, of which its text %zu\n", bytes, texts);
}

}  // namespace
}  // namespace proteus

int main(int argc, char** argv) {
  using namespace proteus;
  benchmark::Initialize(&argc, argv);
  const std::size_t before = resident_bytes();
  const auto many = filled(kUpstreams);
  if (std::getenv("BENCH_MEMORY") != nullptr) tell_memory(before);
  const auto one = filled(1);
  const std::vector<std::vector<std::string>> described = {definitions(1, 0), definitions(2, 0)};
  const std::vector<std::vector<std::string>> renamed = {definitions(1, 10), definitions(2, 10)};
  const std::vector<std::vector<std::string>> all_renamed = {definitions(1, kTools), definitions(2, kTools)};
  const std::vector<std::vector<std::string>> unchanged = {definitions(1, 0)};
  const auto both = [&](const std::string& name, const auto& versions, Step step) {
    bench::add((name + "/alone").c_str(), [&, step](benchmark::State& state) { refresh(state, *one, versions, step); });
    bench::add((name + "/among 1000").c_str(),
               [&, step](benchmark::State& state) { refresh(state, *many, versions, step); });
  };
  // First, because the refreshes below rename tools.
  bench::add("find/alone", [&](benchmark::State& state) { find(state, *one, 1); });
  bench::add("find/among 1000", [&](benchmark::State& state) { find(state, *many, kUpstreams); });
  both("refresh, described anew", described, Step::build_and_publish);
  both("refresh, 10 renamed", renamed, Step::build_and_publish);
  both("refresh, all renamed", all_renamed, Step::build_and_publish);
  both("refresh, unchanged", unchanged, Step::build_and_publish);
  both("publish, all renamed", all_renamed, Step::publish);
  bench::add("page of 1000/among 1000", [&](benchmark::State& state) { page(state, *many); });
  bench::add("restricted view/among 1000", [&](benchmark::State& state) { restricted(state, *many); });
  benchmark::RunSpecifiedBenchmarks();
}
