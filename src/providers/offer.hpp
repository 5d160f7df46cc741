#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/definitions/snapshot.hpp"
#include "catalog/shape/shape.hpp"
#include "client/connection/all_lists.hpp"
#include "providers/upstream_pins.hpp"
#include "store/records.hpp"

namespace proteus::providers {

// What an upstream offers, and what of it is served: the same, unless a person ratifies its definitions, or an operator
// shapes its tools.
struct Offer {
  catalog::SnapshotPointer listed;
  catalog::SnapshotPointer trusted;  // the ratified part of `listed`
  catalog::SnapshotPointer served;   // `trusted` with shaped tools
  catalog::ShapeReport shaping = {};
  std::vector<client::ListFault> faults = {};  // of the lists
  std::optional<Error> failure = {};           // why some lists could not be read; these stay as they were

  // Returns roughly how much there is to process, in bytes.
  std::size_t size() const;
};

// Makes an offer from the lists that were read: parses, checks and hashes definitions, and compares them with what was
// ratified. A value that holds all it needs, so that a background thread can run it. Takes time linear in the lists.
struct OfferMaker {
  catalog::UpstreamName upstream;
  catalog::NameRules rules;
  catalog::ListLimits limits;
  std::shared_ptr<UpstreamPins> pins;           // null if the upstream is not pinned
  std::shared_ptr<const catalog::Shape> shape;  // null if no `tools` are configured
  bool live = false;                            // listed for each caller; lists are read only to find proposals

  // Makes an offer. Reuses what has not changed since `previous`, and kinds that were not read or are over a limit.
  Result<Offer> make(std::uint64_t version, catalog::RawListing raw, const Offer& previous) const;
  // Returns what may be shown of a list that one caller received.
  Result<catalog::DefinitionList::Pointer> list(catalog::Kind kind, std::span<const std::string_view> texts) const;
  // Makes an offer from what an earlier run or another process stored.
  Result<Offer> restore(std::uint64_t version, const std::vector<store::SnapshotRecord>& records) const;

 private:
  // Shapes what is trusted; reuses what has not changed since `previous`.
  Result<void> show(Offer& offer, const Offer& previous) const;
  // Returns the ratified definitions of the kinds that were read; the other kinds are as in `previous`.
  Result<catalog::SnapshotPointer> ratified(const catalog::Snapshot& listed, catalog::KindSet read,
                                            const catalog::SnapshotPointer& previous) const;
};

}  // namespace proteus::providers
