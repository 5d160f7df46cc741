#include "search/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "search/top_hits.hpp"

namespace proteus::search {
namespace {

// Texts less alike than this are about different things.
constexpr float kUnlike = 0.15F;

float length_of(std::span<const std::int8_t> components) {
  std::int64_t sum = 0;
  for (const std::int8_t component : components)
    sum += std::int64_t{component} * component;
  return std::sqrt(static_cast<float>(sum));
}

}  // namespace

Result<Vector> Vector::of(std::span<const float> components) {
  if (components.empty()) return std::unexpected(errors::protocol("an embedding has no components"));
  if (components.size() > kMostComponents) {
    return std::unexpected(errors::protocol(fmt::format("an embedding has {} components", components.size())));
  }
  float largest = 0;
  for (const float component : components) {
    if (!std::isfinite(component))
      return std::unexpected(errors::protocol("an embedding has a component that is no number"));
    largest = std::max(largest, std::abs(component));
  }
  if (largest == 0) return std::unexpected(errors::protocol("an embedding has only zeros"));
  Vector vector;
  vector.components_.reserve(components.size());
  for (const float component : components)
    vector.components_.push_back(static_cast<std::int8_t>(std::lround(component / largest * 127)));
  vector.length_ = length_of(vector.components_);
  return vector;
}

std::optional<Vector> Vector::from_bytes(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > kMostComponents) return std::nullopt;
  Vector vector;
  vector.components_.resize(bytes.size());
  std::memcpy(vector.components_.data(), bytes.data(), bytes.size());
  vector.length_ = length_of(vector.components_);
  if (vector.length_ == 0) return std::nullopt;
  return vector;
}

std::string Vector::bytes() const {
  std::string bytes(components_.size(), '\0');
  std::memcpy(bytes.data(), components_.data(), bytes.size());
  return bytes;
}

float Vector::likeness(const Vector& other) const {
  if (components_.size() != other.components_.size()) return 0;
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < components_.size(); ++i)
    sum += std::int32_t{components_[i]} * other.components_[i];
  return static_cast<float>(sum) / (length_ * other.length_);
}

std::vector<Hit> rank(std::span<const VisibleVectors> parts, const Vector& query, std::size_t limit) {
  TopHits best(limit);
  for (std::uint32_t part = 0; part < parts.size(); ++part) {
    auto lost = parts[part].lost.begin();
    for (std::uint32_t position = 0; position < parts[part].vectors.size(); ++position) {
      while (lost != parts[part].lost.end() && *lost < position)
        ++lost;
      if (lost != parts[part].lost.end() && *lost == position) continue;
      const VectorPointer& vector = parts[part].vectors[position];
      const float likeness = vector ? query.likeness(*vector) : 0;
      if (likeness > kUnlike) best.add({part, position, likeness});
    }
  }
  return best.take();
}

}  // namespace proteus::search
