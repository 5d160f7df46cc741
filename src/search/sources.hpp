#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/indexes.hpp"

namespace proteus::search {

// An index of a search, and what the caller sees of it.
struct Source {
  const SnapshotIndex::Piece* piece;
  std::span<const std::uint64_t> hidden;  // empty if nothing is hidden
  std::uint32_t seen;                     // number of tools that are not hidden

  bool sees(std::uint32_t at) const { return hidden.empty() || !has_bit(hidden, at); }
  // Returns how many of the postings are visible.
  std::size_t count(std::span<const ListIndex::Posting> postings) const;
};

// Everything that a search looks at. `parts` must outlive it.
class Sources {
 public:
  explicit Sources(std::span<const Visible> parts);
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  struct Part {
    const ListIndex* about;
    std::span<const Source> sources;
    std::uint32_t seen;
  };
  std::size_t parts() const { return parts_.size(); }
  Part part(std::size_t at) const;
  // In all parts.
  std::size_t seen() const { return seen_; }
  // Size of the largest index.
  std::size_t largest() const { return largest_; }

 private:
  struct Kept {
    const ListIndex* about;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t seen;
  };
  void add(const SnapshotIndex::Piece& piece, std::span<const std::uint32_t> lost);

  std::vector<Source> sources_;
  std::vector<Kept> parts_;
  std::vector<std::vector<std::uint64_t>> masks_;  // of parts that lost names
  std::size_t seen_ = 0;
  std::size_t largest_ = 0;
};

}  // namespace proteus::search
