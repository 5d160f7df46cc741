#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/definitions/snapshot.hpp"
#include "search/list_index.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// What can be found in one snapshot's tools. A snapshot that is another one seen through a lens shares the index of
// that one: what the lens leaves out is masked, and only what it puts in other words is indexed anew. Immutable, and
// safe to use from any thread. Belongs to no snapshot: it does not keep one alive.
class SnapshotIndex {
 public:
  using Pointer = std::shared_ptr<const SnapshotIndex>;
  // The index of a whole list, made or shared.
  using IndexOf = std::function<ListIndex::Pointer(const catalog::DefinitionList::Pointer&)>;

  // `more` is what the upstream is described by besides what it says itself.
  static Pointer build(const catalog::Snapshot& snapshot, std::string_view more, const IndexOf& index_of,
                       const Tuning& tuning);
  // For a list that is searched once, such as a session's or one that was fetched for this search.
  static Pointer build(const catalog::Snapshot& snapshot, std::string_view more = {}, const Tuning& tuning = {});

  // One index and which of its positions are seen. Together the pieces have each tool once.
  struct Piece {
    ListIndex::Pointer index;
    std::vector<std::uint64_t> hidden;       // a bit for each position; empty for none
    std::vector<std::uint32_t> positions;    // of the snapshot's list, by position in the index; empty: the same
    std::size_t seen = 0;
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  // Of all tools alike: the words of the upstream's name and of what it says of itself.
  const TermWeights& about() const { return about_; }
  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const;

 private:
  std::vector<Piece> pieces_;
  TermWeights about_;
  std::size_t size_ = 0;
};

}  // namespace proteus::search
