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

// In a text, counted from 1; 0 where it is not known.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// A TOML text as JSON, and where each value stands in it. Immutable, cheap to copy.
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

  // A table.
  const boost::json::value& root() const;
  // What is TOML but has no place in a configuration: dates and times that are no instant, and what is nested too deep.
  // It is left out of `root`; an instant is a text there.
  const std::vector<json::Fault>& faults() const;
  // Where the value, or what is nearest above it, is.
  Position locate(std::string_view pointer) const;

 private:
  struct Content;
  explicit Document(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

}  // namespace proteus::toml
