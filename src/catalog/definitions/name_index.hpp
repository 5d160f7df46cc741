#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace proteus::catalog {

// A provider, by its rank, that may hold a name, by the name's hash. Only the provider's list knows whether it really
// does, so a definition that changes and keeps its name does not change the index.
struct Holder {
  std::uint32_t hash = 0;
  bool alias = false;  // the name is not the one clients see
  std::uint32_t rank = 0;

  static constexpr std::uint32_t kMaxRank = (1U << 31U) - 1;
};

// The names of one kind in the whole catalog. Immutable: a changed index shares all buckets with its predecessor,
// except those that contain changed hashes.
class NameIndex {
 public:
  using Pointer = std::shared_ptr<const NameIndex>;
  // A holder as one number, ordered by hash, then names before aliases, then rank.
  using Entry = std::uint64_t;

  static Entry pack(const Holder& holder);
  static Holder unpack(Entry entry);

  // `entries` must be sorted and distinct.
  static Pointer build(std::span<const Entry> entries);
  // Both must be sorted. The index must contain everything in `removed` and nothing in `added`.
  Pointer changed(std::span<const Entry> added, std::span<const Entry> removed) const;

  // Returns all holders of this hash, sorted.
  std::span<const Entry> holders(std::uint32_t hash) const;

 private:
  using Bucket = std::vector<Entry>;

  std::size_t bucket_of(Entry entry) const { return static_cast<std::size_t>((entry >> 32U) >> (32U - bits_)); }
  std::vector<Entry> entries() const;

  unsigned bits_ = 0;  // number of upper bits of the hash that select the bucket
  std::size_t size_ = 0;
  std::vector<std::shared_ptr<const Bucket>> buckets_;  // null for an empty bucket
};

}  // namespace proteus::catalog
