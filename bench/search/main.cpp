// search_quality FOLDER [tuning] [KEY=VALUE]...: measures how often, and at which rank, search finds the tools that a
// query is about. Prints tables for docs/search.md. FOLDER has tools.json and queries.tsv. By default, the queries are
// about the held-out servers, among all servers; with `tuning`, about the other servers, among those only. With values
// for weights, measures only these weights.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "quality.hpp"

namespace {

using namespace proteus;
using namespace proteus::bench;
using search::Field;
using search::Tuning;

search::FieldTuning& field(Tuning& tuning, Field which) { return tuning.fields[static_cast<std::size_t>(which)]; }

struct Variant {
  const char* name;
  Tuning tuning;
};

Tuning without(const std::function<void(Tuning&)>& change) {
  Tuning tuning;
  change(tuning);
  return tuning;
}

std::vector<Variant> variants() {
  return {
      {"plain BM25", plain_ranking()},
      {"Proteus", Tuning{}},
      {"without weights", without([](Tuning& t) {
         for (auto& one : t.fields)
           one.weight = 1;
       })},
      {"without the title", without([](Tuning& t) { field(t, Field::title).weight = 0; })},
      {"without the upstream", without([](Tuning& t) {
         field(t, Field::upstream).weight = 0;
         field(t, Field::about).weight = 0;
       })},
      {"without parameters", without([](Tuning& t) { field(t, Field::parameters).weight = 0; })},
      {"without lengths", without([](Tuning& t) {
         for (auto& one : t.fields)
           one.by_length = 0;
       })},
      {"without stems", without([](Tuning& t) { t.stems = false; })},
      {"without stop words", without([](Tuning& t) { t.stop_words = false; })},
      {"without synonyms", without([](Tuning& t) { t.synonym = 0; })},
      {"without corrections", without([](Tuning& t) { t.misspelled = 0; })},
  };
}

// Returns a weight by its name, such as "name.weight" or "synonym"; null if there is no such weight.
float* weight_of(Tuning& tuning, std::string_view key) {
  constexpr std::array kNames = {"name", "title", "description", "parameters", "upstream", "about"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    search::FieldTuning& one = tuning.fields[i];
    if (key == fmt::format("{}.weight", kNames[i])) return &one.weight;
    if (key == fmt::format("{}.most", kNames[i])) return &one.most;
    if (key == fmt::format("{}.typical", kNames[i])) return &one.typical;
    if (key == fmt::format("{}.by_length", kNames[i])) return &one.by_length;
  }
  if (key == "saturation") return &tuning.saturation;
  if (key == "synonym") return &tuning.synonym;
  if (key == "misspelled") return &tuning.misspelled;
  if (key == "fusion") return &tuning.fusion;
  return key == "negligible" ? &tuning.negligible : nullptr;
}

// Reads the weights among the arguments; nothing if there are none. Throws if a name is unknown.
std::optional<Tuning> read_weights(std::span<char* const> arguments) {
  std::optional<Tuning> read;
  for (const std::string_view argument : arguments) {
    const std::size_t sign = argument.find('=');
    if (sign == std::string_view::npos) continue;
    if (!read) read.emplace();
    float* const weight = weight_of(*read, argument.substr(0, sign));
    if (weight == nullptr) throw std::runtime_error(fmt::format("no weight is called {}", argument.substr(0, sign)));
    *weight = std::stof(std::string(argument.substr(sign + 1)));
  }
  return read;
}

void print(const char* name, const Quality& quality) {
  std::printf("| %s | %.3f | %.3f | %.3f | %.3f |\n", name, quality.recall_1, quality.recall_5, quality.recall_10,
              quality.ndcg_10);
}

void measure(const std::string& folder, bool held_out, const std::optional<Tuning>& tried) {
  auto servers = read_servers(folder + "/tools.json");
  auto queries = read_queries(folder + "/queries.tsv");
  std::erase_if(queries, [&](const QualityQuery& query) { return is_held_out(query, servers) != held_out; });
  if (!held_out) std::erase_if(servers, [](const QualityServer& one) { return one.held_out; });
  std::size_t tools = 0;
  for (const auto& server : servers)
    tools += server.snapshot->list(catalog::Kind::tool).size();
  if (tried) return print("tried", measure_quality(servers, queries, "", *tried));
  std::printf("%zu queries, %zu tools of %zu servers\n\n", queries.size(), tools, servers.size());

  std::printf("| ranking | recall@1 | recall@5 | recall@10 | nDCG@10 |\n|---|---|---|---|---|\n");
  for (const Variant& variant : variants())
    print(variant.name, measure_quality(servers, queries, "", variant.tuning));
  std::vector<std::string> styles;
  for (const QualityQuery& query : queries) {
    if (std::ranges::find(styles, query.style) == styles.end()) styles.push_back(query.style);
  }
  std::printf("\n| queries | recall@1 | recall@5 | recall@10 | nDCG@10 |\n|---|---|---|---|---|\n");
  for (const std::string& style : styles) {
    const Quality ours = measure_quality(servers, queries, style, Tuning{});
    const Quality other = measure_quality(servers, queries, style, plain_ranking());
    print((style + ", " + std::to_string(ours.queries)).c_str(), ours);
    print((style + ", plain BM25").c_str(), other);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: search_quality FOLDER [tuning] [KEY=VALUE]...\n");
    return 2;
  }
  try {
    const std::span<char* const> arguments(argv + 1, static_cast<std::size_t>(argc - 1));
    const bool tuning = argc > 2 && std::string_view(argv[2]) == "tuning";
    measure(argv[1], !tuning, read_weights(arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_quality: %s\n", error.what());
    return 1;
  }
  return 0;
}
