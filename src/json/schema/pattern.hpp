#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::json::schema {

// A compiled ECMA-262 pattern that matches in time linear in the text. Immutable and thread-safe.
//
// Even a small pattern takes some 15 KB, so schemas share one Pattern per text: `compile` caches weak pointers. The
// memory is bounded: a pattern that needs more is rejected, and the automaton that grows while matching starts over
// when it is full.
class Pattern {
 public:
  static constexpr std::size_t kMaxBytes = 4096;
  static constexpr std::size_t kMaxMemory = std::size_t{1024} * 1024;

  static Result<std::shared_ptr<const Pattern>> compile(std::string_view ecma);

  // Whether the pattern matches anywhere in `text`.
  bool matches(std::string_view text) const;

  // The number of instructions of the compiled form. In the worst case, each costs 20 ns per byte of text.
  std::size_t size() const;

  const std::string& text() const { return text_; }

  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

 private:
  struct Compiled;
  Pattern(std::string text, std::unique_ptr<const Compiled> compiled);

  std::string text_;
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace proteus::json::schema
