#pragma once

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
Result<catalog::SnapshotPointer> restore_lists(const catalog::UpstreamName& name, std::uint64_t version,
                                               const std::vector<store::SnapshotRecord>& records,
                                               const catalog::NameRules& rules, const catalog::ListLimits& limits);

}  // namespace proteus::providers
