#pragma once

#include <optional>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "client/message/facts.hpp"
#include "store/records.hpp"

// What an upstream listed, between the form it is served in and the form it is kept in.
namespace proteus::providers {

catalog::ProviderFacts provider_facts(const client::ServerFacts& facts);

std::vector<store::SnapshotRecord> keep_lists(const catalog::Snapshot& snapshot, const client::ServerFacts& facts,
                                              Clock::Wall at);
// What the server said of itself; nothing where that is not known.
std::optional<client::ServerFacts> restore_facts(const std::vector<store::SnapshotRecord>& records);
Result<catalog::SnapshotPointer> restore_lists(const catalog::UpstreamName& name, std::uint64_t version,
                                               const std::vector<store::SnapshotRecord>& records,
                                               const catalog::NameRules& rules, const catalog::ListLimits& limits);

}  // namespace proteus::providers
