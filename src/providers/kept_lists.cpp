#include "providers/kept_lists.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/version.hpp"

namespace proteus::providers {

catalog::ProviderFacts provider_facts(const client::ServerFacts& facts) {
  return {
      .instructions = facts.instructions, .capabilities = facts.capabilities, .server_info = facts.info, .caching = {}};
}

std::vector<store::SnapshotRecord> keep_lists(const catalog::Snapshot& snapshot, const client::ServerFacts& facts,
                                              Clock::Wall at) {
  const std::string said =
      fmt::format(R"({{"instructions":{},"capabilities":{},"serverInfo":{},"keepsSession":{}}})",
                  json::quote(facts.instructions), facts.capabilities, facts.info, facts.keeps_session);
  std::vector<store::SnapshotRecord> records;
  for (const catalog::Kind kind : catalog::kKinds) {
    std::string entries = "[";
    for (const auto& definition : snapshot.list(kind).definitions()) {
      if (entries.size() > 1) entries += ',';
      entries += catalog::original_text(kind, definition);
    }
    entries += ']';
    records.push_back({.upstream = snapshot.upstream().value(),
                       .kind = std::string(catalog::info(kind).plural),
                       .entries = std::move(entries),
                       .era = std::string(mcp::to_string(facts.era())),
                       .protocol_version = std::string(mcp::to_string(facts.version)),
                       .server_facts = said,
                       .taken_at = store::to_time(at)});
  }
  return records;
}

Result<catalog::SnapshotPointer> restore_lists(const catalog::UpstreamName& name, std::uint64_t version,
                                               const std::vector<store::SnapshotRecord>& records,
                                               const catalog::NameRules& rules, const catalog::ListLimits& limits) {
  catalog::RawListing raw;
  for (const catalog::Kind kind : catalog::kKinds) {
    auto& texts = raw.definitions[kind].emplace();
    const auto record = std::ranges::find(records, catalog::info(kind).plural, &store::SnapshotRecord::kind);
    if (record == records.end()) continue;
    auto elements = json::elements_of(record->entries, limits.definitions, {.bytes = limits.bytes});
    if (!elements) return std::unexpected(elements.error());
    texts = std::move(*elements);
    if (!raw.facts.capabilities.empty()) continue;
    raw.facts.capabilities = json::find_member(record->server_facts, "capabilities");
    raw.facts.server_info = json::find_member(record->server_facts, "serverInfo");
    raw.facts.instructions = json::decode_string(json::find_member(record->server_facts, "instructions")).value_or("");
  }
  return catalog::build_snapshot(name, version, std::move(raw), rules, limits);
}

std::optional<client::ServerFacts> restore_facts(const std::vector<store::SnapshotRecord>& records) {
  if (records.empty()) return std::nullopt;
  const store::SnapshotRecord& record = records.front();
  const auto version = mcp::parse_version(record.protocol_version);
  if (!version) return std::nullopt;
  client::ServerFacts facts;
  facts.version = *version;
  facts.info = json::find_member(record.server_facts, "serverInfo");
  facts.capabilities = json::find_member(record.server_facts, "capabilities");
  facts.offers = mcp::parse_server_capabilities(facts.capabilities);
  facts.instructions = json::decode_string(json::find_member(record.server_facts, "instructions")).value_or("");
  facts.keeps_session = json::find_member(record.server_facts, "keepsSession") == "true";
  return facts;
}

}  // namespace proteus::providers
