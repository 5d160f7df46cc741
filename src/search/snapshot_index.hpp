#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "catalog/definitions/snapshot.hpp"
#include "search/list_index.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// The index of one snapshot's tools. A snapshot that is seen through a lens shares the index of the original: tools
// that the lens leaves out are masked, and only those that it describes differently are indexed again. Immutable and
// thread-safe. Keeps no snapshot alive.
class SnapshotIndex {
 public:
  using Pointer = std::shared_ptr<const SnapshotIndex>;
  // Makes the index of a whole list, or returns a shared one.
  using IndexOf = std::function<ListIndex::Pointer(const catalog::DefinitionList::Pointer&)>;

  // `more` describes the upstream in addition to what it says about itself.
  static Pointer build(const catalog::Snapshot& snapshot, std::string_view more, const IndexOf& index_of,
                       const Tuning& tuning);
  // For a list that is searched once, such as a session's or one that was fetched for this search.
  static Pointer build(const catalog::Snapshot& snapshot, std::string_view more = {}, const Tuning& tuning = {});

  // An index and the positions in it that are visible. Together, the pieces have each tool once.
  struct Piece {
    ListIndex::Pointer index;
    std::vector<std::uint64_t> hidden;  // a bit for each position; empty if nothing is hidden
    // Positions in the snapshot's list, by position in the index; empty if they are the same. A tool that the lens
    // leaves out has the position of the next one.
    std::vector<std::uint32_t> positions;
    std::size_t seen = 0;

    std::uint32_t position(std::uint32_t at) const { return positions.empty() ? at : positions[at]; }
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  // What describes all tools alike: the upstream's name, and what it says about itself. Has one position.
  const ListIndex& about() const { return *about_; }
  std::size_t size() const { return size_; }
  // Excludes the indexes of the pieces, which may be shared.
  std::size_t memory_bytes() const;

 private:
  void add_seen(const catalog::DefinitionList& list, const catalog::DefinitionList::Pointer& origin,
                const IndexOf& index_of, const Tuning& tuning);

  std::vector<Piece> pieces_;
  ListIndex::Pointer about_;
  std::size_t size_ = 0;
};

inline bool has_bit(std::span<const std::uint64_t> bits, std::size_t at) {
  return ((bits[at / 64] >> (at % 64)) & 1U) != 0;
}
inline void set_bit(std::span<std::uint64_t> bits, std::size_t at) { bits[at / 64] |= std::uint64_t{1} << (at % 64); }

}  // namespace proteus::search
