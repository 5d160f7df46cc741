#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "catalog/definitions/snapshot.hpp"
#include "catalog/testing/test_support.hpp"
#include "search/rank.hpp"

namespace proteus::search::testing {

// Returns the definition of a tool; `parameters` are names.
inline std::string tool(std::string_view name, std::string_view description = "",
                        const std::vector<std::string>& parameters = {}, std::string_view title = "") {
  std::string properties;
  for (const auto& parameter : parameters)
    properties += fmt::format("{}{}:{{\"type\":\"string\"}}", properties.empty() ? "" : ",", json::quote(parameter));
  const std::string shown = title.empty() ? "" : fmt::format("\"title\":{},", json::quote(title));
  return fmt::format(R"({{"name":{},{}"description":{},"inputSchema":{{"type":"object","properties":{{{}}}}}}})",
                     json::quote(name), shown, json::quote(description), properties);
}

inline catalog::SnapshotPointer upstream(std::string name, const std::vector<std::string>& tools,
                                         std::string instructions = "", std::uint64_t version = 1) {
  catalog::Snapshot::Lists lists;
  lists[catalog::Kind::tool] = catalog::testing::list_of(catalog::Kind::tool, tools);
  catalog::ProviderFacts facts;
  facts.instructions = std::move(instructions);
  return std::make_shared<const catalog::Snapshot>(catalog::UpstreamName(std::move(name)), version, std::move(lists),
                                                   std::move(facts));
}

// Returns all upstreams unchanged, each with its own index.
inline std::vector<Visible> indexed(const std::vector<catalog::SnapshotPointer>& upstreams, const Tuning& tuning = {}) {
  std::vector<Visible> parts;
  for (const auto& snapshot : upstreams)
    parts.push_back({SnapshotIndex::build(*snapshot, {}, tuning), {}});
  return parts;
}

// Returns the names of the hits, in their order.
inline std::vector<std::string> names(const std::vector<catalog::SnapshotPointer>& upstreams,
                                      const std::vector<Hit>& hits) {
  std::vector<std::string> found;
  for (const Hit& hit : hits)
    found.emplace_back(upstreams[hit.part]->list(catalog::Kind::tool)[hit.position].shown);
  return found;
}

inline std::vector<std::string> search(const std::vector<catalog::SnapshotPointer>& upstreams, std::string_view query,
                                       std::size_t limit = 10) {
  return names(upstreams, rank(indexed(upstreams), Query::read(query).value(), limit));
}

}  // namespace proteus::search::testing
