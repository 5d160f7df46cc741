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

// The meaning of a text according to a model: a direction. Stores each component as a byte, which does not harm the
// ranking and saves three quarters of the memory. Immutable.
class Vector {
 public:
  // More components than any model has.
  static constexpr std::size_t kMostComponents = 8192;

  // Fails if the components are not a direction: none, too many, one that is not finite, or all zero.
  static Result<Vector> of(std::span<const float> components);
  // Reads the output of `bytes`; returns nothing if the bytes cannot come from it.
  static std::optional<Vector> from_bytes(std::string_view bytes);
  std::string bytes() const;

  std::size_t size() const { return components_.size(); }
  // Returns the cosine of the angle between two vectors: 1 for the same direction. Returns 0 for vectors of different
  // sizes, which belong to different models.
  float likeness(const Vector& other) const;

 private:
  std::vector<std::int8_t> components_;
  float length_ = 1;
};
using VectorPointer = std::shared_ptr<const Vector>;

// The vectors of one part's tools, by position; null for tools that have none yet.
struct VisibleVectors {
  std::span<const VectorPointer> vectors;
  std::span<const std::uint32_t> lost = {};  // as in Visible
};

// Returns the tools with the most similar vectors, the most similar first. To be combined with the other `rank` by
// `fuse`: tools without a vector are missing here, and lose nothing by that.
std::vector<Hit> rank(std::span<const VisibleVectors> parts, const Vector& query, std::size_t limit);

}  // namespace proteus::search
