#include "gateway/search/kept_vectors.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log.hpp"

namespace proteus::gateway {
namespace {

// Vectors that are stored for definitions of an upstream that are gone.
constexpr std::size_t kOldKept = 1000;
// Base64 makes four of three bytes.
constexpr std::size_t kPartBytes = std::size_t{512} << 10U;
static_assert(kPartBytes / 3 * 4 < store::limits::kText);

struct Packed {
  std::vector<std::string> parts;
  bool has_all = true;
};

Packed in_parts(std::span<const search::KeyedVector> vectors) {
  Packed packed;
  for (std::size_t begin = 0; begin < vectors.size();) {
    if (packed.parts.size() == search::kMostVectorParts) {
      packed.has_all = false;
      break;
    }
    std::size_t end = begin;
    for (std::size_t bytes = 0; end < vectors.size(); ++end) {
      bytes += search::packed_size(vectors[end]);
      if (bytes > kPartBytes && end > begin) break;
    }
    packed.parts.push_back(search::pack(vectors.subspan(begin, end - begin)));
    begin = end;
  }
  return packed;
}

}  // namespace

Task<KeptVectors::Kept> KeptVectors::recall(std::string upstream) {
  Kept kept;
  for (; kept.parts < search::kMostVectorParts; ++kept.parts) {
    auto stored = co_await store_.setting(search::vectors_key(upstream, kept.parts));
    if (!stored || !*stored) break;
    for (auto& [key, vector] : co_await background_.run([text = std::move(**stored)] { return search::unpack(text); }))
      kept.vectors.insert_or_assign(key, std::move(vector));
  }
  co_return kept;
}

Task<> KeptVectors::keep(std::string upstream, std::vector<search::KeyedVector> present, Kept before) {
  const bool has_news =
      std::ranges::any_of(present, [&](const auto& one) { return !before.vectors.contains(one.key); });
  if (!has_news) co_return;
  for (const auto& one : present)
    before.vectors.erase(one.key);
  const std::size_t own = present.size();
  for (const auto& [key, vector] : before.vectors) {
    if (present.size() < own + kOldKept) present.push_back({key, vector});
  }
  auto packed = co_await background_.run([present = std::move(present)] { return in_parts(present); });
  if (!packed.has_all && too_many_.insert(upstream).second) {
    log::warning("upstream {} has so many tools that the vectors of some are not kept, and sent again after a restart",
                 upstream);
  }
  store::Writes writes;
  const std::size_t parts = packed.parts.size();
  for (std::size_t i = 0; i < parts; ++i)
    writes.emplace_back(
        store::PutSetting{{.key = search::vectors_key(upstream, i), .value = std::move(packed.parts[i])}});
  for (std::size_t i = parts; i < before.parts; ++i)
    writes.emplace_back(store::RemoveSetting{search::vectors_key(upstream, i)});
  if (const auto written = co_await store_.write(std::move(writes)); !written)
    log::warning("the vectors of upstream {} are not kept: {}", upstream, written.error().message());
}

}  // namespace proteus::gateway
