#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "search/rank.hpp"

namespace proteus::search {

// What a text means, as a model sees it: a direction. Components are a byte each, which costs ranking nothing and
// memory three quarters less. Immutable.
class Vector {
 public:
  // More components than any model has.
  static constexpr std::size_t kMostComponents = 8192;

  // Fails where it is no direction: no component, too many, one that is not a number, or all of them zero.
  static Result<Vector> of(std::span<const float> components);
  // As `bytes` gave it; nothing where they cannot be of one.
  static std::optional<Vector> from_bytes(std::string_view bytes);
  std::string bytes() const;

  std::size_t size() const { return components_.size(); }
  // The cosine of the angle between two: 1 for the same direction. Zero for vectors of different models.
  float likeness(const Vector& other) const;

 private:
  std::vector<std::int8_t> components_;
  float length_ = 1;
};
using VectorPointer = std::shared_ptr<const Vector>;

// The vectors of one part's tools, by position; null where there is none yet.
struct VisibleVectors {
  std::span<const VectorPointer> vectors;
  std::span<const std::uint32_t> lost = {};  // as in Visible
};

// The tools whose vectors are the likest, the likest first. To be fused with `rank` (see `fuse`); what has no vector
// does not come up here, and loses nothing there.
std::vector<Hit> rank(std::span<const VisibleVectors> parts, const Vector& query, std::size_t limit);

}  // namespace proteus::search
