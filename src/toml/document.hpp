#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "json/place.hpp"

namespace proteus::toml {

// A position in a text, counted from 1; 0 if unknown.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// A TOML text as JSON, with the position of each value. Immutable and cheap to copy.
class Document {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{8} << 20U;
  static constexpr std::size_t kMaxDepth = 32;
  static constexpr std::size_t kMaxKeyParts = 16;

  struct SyntaxFault {
    Position position;
    std::string message;
  };

  static std::expected<Document, SyntaxFault> parse(std::string_view text);

  // Returns an object, the top-level table.
  const boost::json::value& root() const;
  // Returns the faults of values that are valid TOML but not allowed in a configuration: dates and times without an
  // offset, numbers that are not finite, and values nested too deep. `root` omits such values, with null in their place
  // in arrays. A date-time with an offset is a string in `root`.
  const std::vector<json::Fault>& faults() const;
  // Returns the position of the value at the pointer, or of its nearest ancestor that has one.
  Position locate(std::string_view pointer) const;

 private:
  struct Content;
  explicit Document(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

}  // namespace proteus::toml
