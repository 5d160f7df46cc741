#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/names.hpp"
#include "mcp/reply.hpp"

namespace proteus::catalog {

// What a provider says about itself, apart from its definitions.
struct ProviderFacts {
  std::string instructions;
  std::string capabilities;  // JSON text; empty if unknown
  std::string server_info;   // JSON text; empty if unknown
  // How long the provider's lists may be cached.
  PerKind<std::optional<mcp::Caching>> caching;

  friend bool operator==(const ProviderFacts&, const ProviderFacts&);
};

// Everything that one provider offers at one moment. Immutable and thread-safe. The versions of one provider's
// snapshots increase; the publisher assigns them.
class Snapshot : public std::enable_shared_from_this<Snapshot> {
 public:
  using Lists = PerKind<DefinitionList::Pointer>;

  // A null list stands for an empty one.
  Snapshot(UpstreamName upstream, std::uint64_t version, Lists lists, ProviderFacts facts = {});

  const UpstreamName& upstream() const { return upstream_; }
  std::uint64_t version() const { return version_; }
  const DefinitionList& list(Kind kind) const { return *lists_[kind]; }
  const Lists& lists() const { return lists_; }
  const ProviderFacts& facts() const { return facts_; }

 private:
  UpstreamName upstream_;
  std::uint64_t version_;
  Lists lists_;
  ProviderFacts facts_;
};

using SnapshotPointer = std::shared_ptr<const Snapshot>;

// The definitions of each kind as texts, as the provider listed them. A kind without a value was not listed and keeps
// its previous list.
struct RawListing {
  PerKind<std::optional<std::vector<std::string_view>>> definitions;
  ProviderFacts facts;
};

// Builds a snapshot. `previous` may be null. Fails if a list exceeds its limit.
Result<SnapshotPointer> build_snapshot(UpstreamName upstream, std::uint64_t version, RawListing listing,
                                       const NameRules& rules, const ListLimits& limits,
                                       const SnapshotPointer& previous = nullptr);

}  // namespace proteus::catalog
