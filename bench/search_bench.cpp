// Measures a search among 1,000, 10,000 and 100,000 tools of upstreams with a hundred tools each, the memory of an
// index, and what a refresh of one upstream costs the next search. With BENCH_LATENCY set, prints percentiles of single
// searches to standard error; with BENCH_MEMORY set, the memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <time.h>

#include "base/clock.hpp"
#include "bench.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "json/text.hpp"
#include "search/rank.hpp"

namespace proteus {
namespace {

using namespace search;

constexpr int kToolsEach = 100;

constexpr std::array kActions = {"get",   "list",   "create", "update", "delete", "search", "send",   "read",
                                 "write", "export", "import", "find",   "run",    "cancel", "upload", "archive"};
constexpr std::array kThings = {"user",   "file",    "page",    "issue",    "invoice", "order",   "message", "report",
                                "table",  "record",  "project", "branch",   "commit",  "comment", "event",   "calendar",
                                "image",  "chart",   "channel", "customer", "payment", "product", "ticket",  "account",
                                "folder", "session", "deploy",  "metric",   "alert",   "dataset", "query",   "webhook"};
constexpr std::array kSmallWords = {"the", "of", "a", "for", "with", "by", "in", "and", "to", "that", "this", "from"};
constexpr std::array kFillers = {"given",   "optional",  "returns",  "identifier", "name",    "specified",
                                 "results", "filter",    "limit",    "existing",   "current", "details",
                                 "status",  "including", "matching", "all"};
constexpr std::array kSyllables = {"ra",  "to", "mi",  "ven", "sul", "ka",  "dor",
                                   "pel", "ni", "gam", "lo",  "tis", "bre", "qua"};

// Generates upstreams that resemble real ones: few verbs, some common nouns, and words that only one upstream has.
class Upstreams {
 public:
  Upstreams() {
    for (const char* const thing : kThings)
      common_.emplace_back(thing);
    for (int i = 0; i < 1000; ++i)
      common_.push_back(rare());
  }

  template <class Words>
  std::string one_of(const Words& words) {
    return std::string(words[random_() % words.size()]);
  }
  // Returns a word; a few words occur in many tools, most in few.
  std::string common() {
    const double at = std::pow(std::uniform_real_distribution<double>(0, 1)(random_), 3);
    return common_[static_cast<std::size_t>(at * static_cast<double>(common_.size()))];
  }
  std::string rare() { return one_of(kSyllables) + one_of(kSyllables) + one_of(kSyllables); }

  catalog::SnapshotPointer upstream(int number, std::uint64_t version = 1) {
    std::vector<std::string> own;
    for (int i = 0; i < 20; ++i)
      own.push_back(rare());
    std::vector<std::string> texts;
    for (int i = 0; i < kToolsEach; ++i) {
      const std::string action = one_of(kActions);
      const std::string thing = random_() % 4 > 0 ? common() : one_of(own);
      std::string description = action + "s";
      for (int word = 0; word < 25; ++word) {
        const auto kind = random_() % 10;
        description += " ";
        description += kind < 4 ? one_of(kSmallWords) : kind < 7 ? one_of(kFillers) : kind < 9 ? common() : one_of(own);
      }
      texts.push_back(fmt::format(
          R"({{"name":"{}_{}_{}","description":"{}","inputSchema":{{"type":"object","properties":{{"{}_id":{{}},"limit":{{}},"{}":{{}}}}}}}})",
          action, thing, i, description, thing, one_of(kFillers)));
    }
    const std::vector<std::string_view> raw(texts.begin(), texts.end());
    catalog::Snapshot::Lists lists;
    lists[catalog::Kind::tool] = catalog::DefinitionList::build(catalog::Kind::tool, raw, {}, {}).value();
    return std::make_shared<const catalog::Snapshot>(catalog::UpstreamName(fmt::format("{}{}", own.front(), number)),
                                                     version, std::move(lists));
  }

  // Returns a query in one of the styles of agents: keywords, a step, a whole task, a typing error.
  std::string query() {
    const auto style = random_() % 4;
    std::string text = one_of(kActions) + " " + common();
    if (style == 0) return text;
    const int words = style == 1 ? 6 : 20;
    for (int i = 0; i < words; ++i)
      text += " " + (random_() % 3 == 0   ? one_of(kThings)
                     : random_() % 2 == 0 ? one_of(kSmallWords)
                                          : one_of(kFillers));
    if (style == 3) text += " " + rare() + " custmoer";
    return text;
  }

 private:
  std::mt19937 random_{7};
  std::vector<std::string> common_;
};

// A catalog, its indexes, and queries.
struct Searched {
  explicit Searched(int tools) {
    for (int i = 0; i < tools / kToolsEach; ++i)
      snapshots.push_back(upstreams.upstream(i));
    for (const auto& snapshot : snapshots)
      parts.push_back({snapshot.get(), {}});
    visible = indexes.build(parts);
    for (int i = 0; i < 512; ++i)
      queries.push_back(upstreams.query());
  }

  // Does the work of one request: reads the query, finds the indexes, ranks.
  std::size_t search(std::size_t number) {
    const auto query = Query::read(queries[number % queries.size()]);
    const auto found = indexes.find(parts);
    return rank(*found, *query, 10).size();
  }

  Upstreams upstreams;
  SystemClock clock;
  Indexes indexes{clock};
  std::vector<catalog::SnapshotPointer> snapshots;
  std::vector<catalog::View::Part> parts;
  std::vector<Visible> visible;
  std::vector<std::string> queries;
};

// Returns the CPU time of this thread in microseconds, which other load on the machine does not affect.
double thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

void tell_latency(int tools) {
  Searched searched(tools);
  std::vector<double> times;
  for (std::size_t i = 0; i < 4096; ++i) {
    const double begin = thread_time();
    benchmark::DoNotOptimize(searched.search(i));
    times.push_back(thread_time() - begin);
  }
  times.erase(times.begin(), times.begin() + 512);
  std::ranges::sort(times);
  std::fprintf(stderr, "search among %d tools: p50 %.1f us, p99 %.1f us\n", tools, times[times.size() / 2],
               times[times.size() * 99 / 100]);
}

void tell_memory() {
  const Searched searched(10'000);
  std::size_t text = 0;
  for (const auto& snapshot : searched.snapshots)
    text += snapshot->list(catalog::Kind::tool).joined().size();
  std::fprintf(stderr, "index memory per tool: %zu bytes, of a text of %zu\n", searched.indexes.memory_bytes() / 10'000,
               text / 10'000);
}

// Measures how long the next search takes to update the indexes after one upstream of a hundred tools has changed.
void refresh(benchmark::State& state, int tools) {
  Searched searched(tools);
  std::uint64_t version = 1;
  for (auto _ : state) {
    state.PauseTiming();
    searched.snapshots.front() = searched.upstreams.upstream(0, ++version);
    searched.parts.front().snapshot = searched.snapshots.front().get();
    state.ResumeTiming();
    benchmark::DoNotOptimize(searched.indexes.build(searched.parts));
  }
}

}  // namespace
}  // namespace proteus

int main(int argc, char** argv) {
  using namespace proteus;
  if (std::getenv("BENCH_LATENCY") != nullptr) {
    for (const int tools : {1'000, 10'000, 100'000})
      tell_latency(tools);
  }
  if (std::getenv("BENCH_MEMORY") != nullptr) tell_memory();
  bench::add("refresh/alone", [](benchmark::State& state) { refresh(state, 100); });
  bench::add("refresh/among 1000", [](benchmark::State& state) { refresh(state, 100'000); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
