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

// What a provider said of itself, and others need to know besides its definitions.
struct ProviderFacts {
  std::string instructions;
  std::string capabilities;  // as JSON text; empty where it has not said
  std::string server_info;   // likewise
  // What it says about how long its lists hold.
  PerKind<std::optional<mcp::Caching>> caching;

  friend bool operator==(const ProviderFacts&, const ProviderFacts&);
};

// All that one provider offers, as it was at one moment. Immutable, and safe to read from any thread. Versions of one
// provider's snapshots grow; whoever publishes them gives them.
class Snapshot : public std::enable_shared_from_this<Snapshot> {
 public:
  using Lists = PerKind<DefinitionList::Pointer>;

  // A list that is null is an empty one.
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

// The definitions of each kind as they were listed, as texts. A kind that was not listed keeps what it was.
struct RawListing {
  PerKind<std::optional<std::vector<std::string_view>>> definitions;
  ProviderFacts facts;
};

// `previous` may be null. Fails where a list is over its limit.
Result<SnapshotPointer> build_snapshot(UpstreamName upstream, std::uint64_t version, RawListing listing,
                                       const NameRules& rules, const ListLimits& limits,
                                       const SnapshotPointer& previous = nullptr);

}  // namespace proteus::catalog
