#include "quality.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::bench {
namespace {

constexpr std::size_t kDepth = 10;

std::vector<std::string> split(std::string_view text, std::string_view by) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(by);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + by.size());
  }
}

catalog::SnapshotPointer snapshot_of(const boost::json::object& about, const boost::json::array& tools) {
  std::vector<std::string> texts;
  for (const auto& tool : tools)
    texts.push_back(boost::json::serialize(tool));
  const std::vector<std::string_view> raw(texts.begin(), texts.end());
  catalog::Snapshot::Lists lists;
  lists[catalog::Kind::tool] = catalog::DefinitionList::build(catalog::Kind::tool, raw, {}, {}).value();
  catalog::ProviderFacts facts;
  facts.instructions = std::string(about.at("instructions").as_string());
  return std::make_shared<const catalog::Snapshot>(catalog::UpstreamName(std::string(about.at("name").as_string())), 1,
                                                   std::move(lists), std::move(facts));
}

Quality quality_of(const std::vector<std::string>& found, const std::vector<std::vector<std::string>>& expected) {
  Quality quality{.queries = 1};
  const auto all = static_cast<double>(expected.size());
  std::vector<bool> met(expected.size());
  double ideal = 0;
  for (std::size_t i = 0; i < kDepth; ++i) {
    const double gain = 1 / std::log2(static_cast<double>(i) + 2);
    if (i < expected.size()) ideal += gain;
    for (std::size_t one = 0; i < found.size() && one < expected.size(); ++one) {
      if (met[one] || std::ranges::find(expected[one], found[i]) == expected[one].end()) continue;
      met[one] = true;
      if (i < 1) quality.recall_1 += 1 / all;
      if (i < 5) quality.recall_5 += 1 / all;
      quality.recall_10 += 1 / all;
      quality.ndcg_10 += gain;
      break;
    }
  }
  quality.ndcg_10 /= ideal;
  return quality;
}

}  // namespace

std::vector<QualityServer> read_servers(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto read = json::parse(text);
  if (!read) throw std::runtime_error(fmt::format("{}: {}", path, read.error().message()));
  std::vector<QualityServer> servers;
  for (const auto& server : read->as_array()) {
    const auto& about = server.at("server").as_object();
    servers.push_back({about.at("half").as_string() == "held-out", snapshot_of(about, server.at("tools").as_array())});
  }
  return servers;
}

std::vector<QualityQuery> read_queries(const std::string& path) {
  std::ifstream file(path);
  std::vector<QualityQuery> queries;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto fields = split(line, "\t");
    if (fields.size() != 3) throw std::runtime_error(fmt::format("{}: not three fields: {}", path, line));
    QualityQuery query{.style = fields[0], .steps = split(fields[1], " | "), .expected = {}};
    for (const auto& tools : split(fields[2], " "))
      query.expected.push_back(split(tools, ","));
    queries.push_back(std::move(query));
  }
  return queries;
}

Quality measure_quality(const std::vector<QualityServer>& servers, const std::vector<QualityQuery>& queries,
                        std::string_view style, const search::Tuning& tuning) {
  std::vector<search::Visible> parts;
  for (const QualityServer& server : servers)
    parts.push_back({search::SnapshotIndex::build(*server.snapshot, {}, tuning), {}});
  Quality sum;
  for (const QualityQuery& query : queries) {
    if (!style.empty() && query.style != style) continue;
    const std::vector<std::string_view> texts(query.steps.begin(), query.steps.end());
    std::vector<std::string> found;
    for (const search::Hit& hit : rank(parts, search::Query::read(texts, tuning).value(), kDepth, tuning)) {
      const catalog::Snapshot& snapshot = *servers[hit.part].snapshot;
      found.push_back(
          fmt::format("{}.{}", snapshot.upstream().value(), snapshot.list(catalog::Kind::tool)[hit.position].own));
    }
    const Quality one = quality_of(found, query.expected);
    ++sum.queries;
    sum.recall_1 += one.recall_1;
    sum.recall_5 += one.recall_5;
    sum.recall_10 += one.recall_10;
    sum.ndcg_10 += one.ndcg_10;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(sum.queries, 1));
  return {sum.queries, sum.recall_1 / count, sum.recall_5 / count, sum.recall_10 / count, sum.ndcg_10 / count};
}

}  // namespace proteus::bench
