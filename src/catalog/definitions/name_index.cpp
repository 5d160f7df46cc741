#include "catalog/definitions/name_index.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace proteus::catalog {
namespace {

// Changing an index copies one pointer per bucket and the contents of the affected buckets. With about 30 entries per
// bucket, both cost about the same when 100 of 100,000 names change.
constexpr std::size_t kFull = 32;
constexpr std::size_t kFilledAtFirst = 12;
constexpr unsigned kMaxBits = 20;

}  // namespace

NameIndex::Entry NameIndex::pack(const Holder& holder) {
  return (static_cast<Entry>(holder.hash) << 32U) | (static_cast<Entry>(holder.alias ? 1 : 0) << 31U) | holder.rank;
}

Holder NameIndex::unpack(Entry entry) {
  return {static_cast<std::uint32_t>(entry >> 32U), ((entry >> 31U) & 1U) != 0,
          static_cast<std::uint32_t>(entry) & Holder::kMaxRank};
}

NameIndex::Pointer NameIndex::build(std::span<const Entry> entries) {
  auto index = std::make_shared<NameIndex>();
  index->bits_ = std::min(kMaxBits, static_cast<unsigned>(std::bit_width(entries.size() / kFilledAtFirst)));
  index->size_ = entries.size();
  index->buckets_.resize(std::size_t{1} << index->bits_);
  for (auto begin = entries.begin(); begin != entries.end();) {
    const std::size_t bucket = index->bucket_of(*begin);
    const auto end = std::find_if(begin, entries.end(), [&](Entry entry) { return index->bucket_of(entry) != bucket; });
    index->buckets_[bucket] = std::make_shared<const Bucket>(begin, end);
    begin = end;
  }
  return index;
}

NameIndex::Pointer NameIndex::changed(std::span<const Entry> added, std::span<const Entry> removed) const {
  const std::size_t size = size_ + added.size() - removed.size();
  if (size > buckets_.size() * kFull && bits_ < kMaxBits) {
    const auto before = entries();
    std::vector<Entry> kept;
    std::vector<Entry> all;
    std::ranges::set_difference(before, removed, std::back_inserter(kept));
    std::ranges::set_union(kept, added, std::back_inserter(all));
    return build(all);
  }
  auto index = std::make_shared<NameIndex>(*this);
  index->size_ = size;
  while (!added.empty() || !removed.empty()) {
    const std::size_t bucket = std::min(added.empty() ? buckets_.size() : bucket_of(added.front()),
                                        removed.empty() ? buckets_.size() : bucket_of(removed.front()));
    const auto take = [&](std::span<const Entry>& from) {
      const auto end = std::ranges::find_if(from, [&](Entry entry) { return bucket_of(entry) != bucket; });
      const auto count = static_cast<std::size_t>(end - from.begin());
      const auto taken = from.first(count);
      from = from.subspan(count);
      return taken;
    };
    const auto come = take(added);
    const auto gone = take(removed);
    static const Bucket none;
    const Bucket& before = buckets_[bucket] ? *buckets_[bucket] : none;
    Bucket kept;
    kept.reserve(before.size());
    std::ranges::set_difference(before, gone, std::back_inserter(kept));
    Bucket after;
    after.reserve(kept.size() + come.size());
    std::ranges::set_union(kept, come, std::back_inserter(after));
    index->buckets_[bucket] = after.empty() ? nullptr : std::make_shared<const Bucket>(std::move(after));
  }
  return index;
}

std::span<const NameIndex::Entry> NameIndex::holders(std::uint32_t hash) const {
  const Entry first = static_cast<Entry>(hash) << 32U;
  const auto& bucket = buckets_[bucket_of(first)];
  if (!bucket) return {};
  const auto begin = std::ranges::lower_bound(*bucket, first);
  const auto end = std::find_if(begin, bucket->end(), [&](Entry entry) { return (entry >> 32U) != hash; });
  return {begin, end};
}

std::vector<NameIndex::Entry> NameIndex::entries() const {
  std::vector<Entry> all;
  all.reserve(size_);
  for (const auto& bucket : buckets_) {
    if (bucket) all.insert(all.end(), bucket->begin(), bucket->end());
  }
  return all;
}

}  // namespace proteus::catalog
