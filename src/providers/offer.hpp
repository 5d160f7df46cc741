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
  catalog::SnapshotPointer trusted;  // of what is listed, what was ratified
  catalog::SnapshotPointer served;   // that, as it is shown
  catalog::ShapeReport shaping = {};
  std::vector<client::ListFault> faults = {};  // of its lists
  std::optional<Error> failure = {};           // why not all could be read; those are as they were before

  // About how much there is to compute, in bytes.
  std::size_t size() const;
};

// Makes one of the lists that were read: parses, checks and hashes definitions, and holds them against what was
// ratified. A value with all that this takes, so that it can be handed to a thread in the background. Costs time
// proportional to the lists.
struct OfferMaker {
  catalog::UpstreamName upstream;
  catalog::NameRules rules;
  catalog::ListLimits limits;
  std::shared_ptr<UpstreamPins> pins;           // null where it is not pinned
  std::shared_ptr<const catalog::Shape> shape;  // null where nothing is said about tools
  bool live = false;                            // listed for each caller; read only to be proposed

  // What has not changed since `previous` is taken from there, and so is a kind that was not read or is over a limit.
  Result<Offer> make(std::uint64_t version, catalog::RawListing raw, const Offer& previous) const;
  // What may be shown of a list that one caller was given.
  Result<catalog::DefinitionList::Pointer> list(catalog::Kind kind, std::span<const std::string_view> texts) const;
  // Of what was kept, by an earlier run or another process.
  Result<Offer> restore(std::uint64_t version, const std::vector<store::SnapshotRecord>& records) const;

 private:
  // Shapes what is trusted; what has not changed since `previous` is taken from there.
  Result<void> show(Offer& offer, const Offer& previous) const;
  // Of the kinds that were read; the others are as in `previous`.
  Result<catalog::SnapshotPointer> ratified(const catalog::Snapshot& listed, catalog::KindSet read,
                                            const catalog::SnapshotPointer& previous) const;
};

}  // namespace proteus::providers
