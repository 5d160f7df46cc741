#pragma once

#include <optional>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "client/message/facts.hpp"
#include "store/records.hpp"

// Converts what an upstream listed between the form that is served and the form that is kept.
namespace proteus::providers {

catalog::ProviderFacts provider_facts(const client::ServerFacts& facts);

std::vector<store::SnapshotRecord> keep_lists(const catalog::Snapshot& snapshot, const client::ServerFacts& facts,
                                              Clock::Wall at);
// Returns what the server said about itself; nothing if that is not known.
std::optional<client::ServerFacts> restore_facts(const std::vector<store::SnapshotRecord>& records);
Result<catalog::SnapshotPointer> restore_lists(const catalog::UpstreamName& name, std::uint64_t version,
                                               const std::vector<store::SnapshotRecord>& records,
                                               const catalog::NameRules& rules, const catalog::ListLimits& limits);

}  // namespace proteus::providers
