#include "search/snapshot_index.hpp"

#include <string>
#include <utility>

#include "search/tool_text.hpp"

namespace proteus::search {
namespace {

using catalog::DefinitionList;

const DefinitionList::Pointer& root_of(const DefinitionList::Pointer& list) {
  const DefinitionList::Pointer* root = &list;
  while ((*root)->origin() != nullptr)
    root = &(*root)->origin();
  return *root;
}

// A lens that keeps less than one in this many tools of a list gets its own index: skipping the others would cost more.
constexpr std::size_t kWorthSharing = 8;

}  // namespace

SnapshotIndex::Pointer SnapshotIndex::build(const catalog::Snapshot& snapshot, std::string_view more,
                                            const IndexOf& index_of, const Tuning& tuning) {
  auto index = std::make_shared<SnapshotIndex>();
  const DefinitionList::Pointer& list = snapshot.lists()[catalog::Kind::tool];
  const DefinitionList::Pointer& root = root_of(list);
  index->size_ = list->size();
  index->about_ = ListIndex::build(snapshot.upstream().value(), about_of(snapshot.facts()).append(more), tuning);
  if (root == list) {
    index->pieces_.push_back({.index = index_of(list), .hidden = {}, .positions = {}, .seen = list->size()});
  } else if (list->size() * kWorthSharing < root->size()) {
    index->pieces_.push_back(
        {.index = ListIndex::build(*list, tuning), .hidden = {}, .positions = {}, .seen = list->size()});
  } else {
    index->add_seen(*list, root, index_of, tuning);
  }
  return index;
}

SnapshotIndex::Pointer SnapshotIndex::build(const catalog::Snapshot& snapshot, std::string_view more,
                                            const Tuning& tuning) {
  return build(
      snapshot, more, [&](const DefinitionList::Pointer& list) { return ListIndex::build(*list, tuning); }, tuning);
}

// Both lists are sorted by name, and a lens changes no name.
void SnapshotIndex::add_seen(const DefinitionList& list, const DefinitionList::Pointer& origin, const IndexOf& index_of,
                             const Tuning& tuning) {
  Piece piece;
  piece.hidden.assign(origin->size() / 64 + 1, 0);
  piece.positions.reserve(origin->size());
  std::vector<std::uint32_t> reworded;
  std::uint32_t next = 0;
  for (std::size_t at = 0; at < origin->size(); ++at) {
    piece.positions.push_back(next);
    const bool kept = next < list.size() && list[next].shown == (*origin)[at].shown;
    const bool same = kept && list[next].text == (*origin)[at].text;
    if (same) {
      ++piece.seen;
    } else {
      set_bit(piece.hidden, at);
    }
    if (kept && !same) reworded.push_back(next);
    if (kept) ++next;
  }
  if (piece.seen > 0) {
    piece.index = index_of(origin);
    pieces_.push_back(std::move(piece));
  }
  if (reworded.empty()) return;
  Piece other{
      .index = ListIndex::build(list, reworded, tuning), .hidden = {}, .positions = {}, .seen = reworded.size()};
  other.positions = std::move(reworded);
  pieces_.push_back(std::move(other));
}

std::size_t SnapshotIndex::memory_bytes() const {
  std::size_t bytes = sizeof *this + about_->memory_bytes() + pieces_.capacity() * sizeof(Piece);
  for (const Piece& piece : pieces_)
    bytes += piece.hidden.capacity() * sizeof(std::uint64_t) + piece.positions.capacity() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace proteus::search
