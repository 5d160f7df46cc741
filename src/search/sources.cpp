#include "search/sources.hpp"

#include <algorithm>

namespace proteus::search {
namespace {

constexpr std::size_t kNowhere = SIZE_MAX;

// Returns the place in the index of a position in the snapshot's list. If the tool is in another piece, returns
// kNowhere or a hidden place.
std::size_t place_of(const SnapshotIndex::Piece& piece, std::uint32_t position) {
  if (piece.positions.empty()) return position < piece.index->size() ? position : kNowhere;
  const auto behind = std::ranges::upper_bound(piece.positions, position);
  if (behind == piece.positions.begin() || *(behind - 1) != position) return kNowhere;
  return static_cast<std::size_t>(behind - piece.positions.begin()) - 1;
}

}  // namespace

std::size_t Source::count(std::span<const ListIndex::Posting> postings) const {
  if (hidden.empty()) return postings.size();
  return static_cast<std::size_t>(
      std::ranges::count_if(postings, [&](const ListIndex::Posting& one) { return sees(one.position); }));
}

Sources::Sources(std::span<const Visible> parts) {
  parts_.reserve(parts.size());
  sources_.reserve(parts.size() + 8);
  for (const Visible& part : parts) {
    const auto begin = static_cast<std::uint32_t>(sources_.size());
    const std::size_t before = seen_;
    for (const SnapshotIndex::Piece& piece : part.index->pieces())
      add(piece, part.lost);
    parts_.push_back({&part.index->about(), begin, static_cast<std::uint32_t>(sources_.size()),
                      static_cast<std::uint32_t>(seen_ - before)});
  }
}

void Sources::add(const SnapshotIndex::Piece& piece, std::span<const std::uint32_t> lost) {
  Source source{.piece = &piece, .hidden = piece.hidden, .seen = static_cast<std::uint32_t>(piece.seen)};
  if (!lost.empty()) {
    auto& mask = masks_.emplace_back(piece.hidden);
    mask.resize(piece.index->size() / 64 + 1, 0);
    for (const std::uint32_t position : lost) {
      const std::size_t at = place_of(piece, position);
      if (at == kNowhere || has_bit(mask, at)) continue;
      set_bit(mask, at);
      --source.seen;
    }
    source.hidden = mask;  // stays valid when masks_ grows, because a moved vector keeps its buffer
  }
  if (source.seen == 0) return;
  sources_.push_back(source);
  seen_ += source.seen;
  largest_ = std::max(largest_, piece.index->size());
}

Sources::Part Sources::part(std::size_t at) const {
  const Kept& part = parts_[at];
  return {part.about, std::span(sources_).subspan(part.begin, part.end - part.begin), part.seen};
}

}  // namespace proteus::search
