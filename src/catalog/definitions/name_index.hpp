#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace proteus::catalog {

// Who may hold a name: a provider by its rank, for a hash of the name. Whether it does is for its list to say, so that
// a definition that changes, and keeps its name, changes nothing here.
struct Holder {
  std::uint32_t hash = 0;
  bool alias = false;  // the name is not the one clients see
  std::uint32_t rank = 0;

  static constexpr std::uint32_t kMaxRank = (1U << 31U) - 1;
};

// The names of one kind in the whole catalog. Immutable: a changed index shares all buckets with the one before, except
// those that the changed hashes fall in.
class NameIndex {
 public:
  using Pointer = std::shared_ptr<const NameIndex>;
  // A holder as one number, ordered by hash, then names before aliases, then rank.
  using Entry = std::uint64_t;

  static Entry pack(const Holder& holder);
  static Holder unpack(Entry entry);

  // The entries are in order, and distinct.
  static Pointer build(std::span<const Entry> entries);
  // Both are in order; what is removed is there, what is added is not.
  Pointer changed(std::span<const Entry> added, std::span<const Entry> removed) const;

  // All holders of this hash, in order.
  std::span<const Entry> holders(std::uint32_t hash) const;
  std::size_t size() const { return size_; }

 private:
  using Bucket = std::vector<Entry>;

  std::size_t bucket_of(Entry entry) const { return static_cast<std::size_t>((entry >> 32U) >> (32U - bits_)); }
  std::vector<Entry> entries() const;

  unsigned bits_ = 0;  // of the hash, the upper ones, that choose the bucket
  std::size_t size_ = 0;
  std::vector<std::shared_ptr<const Bucket>> buckets_;  // null for an empty one
};

}  // namespace proteus::catalog
