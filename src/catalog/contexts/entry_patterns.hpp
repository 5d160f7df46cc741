#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/contexts/lens.hpp"
#include "catalog/definitions/kind.hpp"

namespace proteus::catalog {

// Whether a text fits a pattern, in which "*" stands for any characters and "?" for exactly one. Takes at worst time
// proportional to the product of both lengths.
bool fits(std::string_view pattern, std::string_view text);

// Fails if the pattern can never fit an entry. The error says why.
Result<> check_entry_pattern(std::string_view pattern);

// Which names of an entry are compared with patterns.
enum class ComparedBy : std::uint8_t { shown_name, any_name };

// Patterns of entries. A pattern without a kind is for tools, "prompt:x*" is for prompts, and "resource:x*" for
// resources and templates, by URI. Immutable.
class EntryPatterns {
 public:
  EntryPatterns() = default;
  explicit EntryPatterns(const std::vector<std::string>& written);

  bool empty() const { return patterns_.empty(); }
  bool speak_of(Kind kind) const;
  // Whether a pattern is "*" for that kind.
  bool fit_all(Kind kind) const;
  bool fit(Kind kind, const Names& names, ComparedBy by) const;
  // Like `fit`, for a URI in its plain spellings (see plain_uris): whether a pattern fits any of them.
  bool fit_plain(Kind kind, std::span<const std::string> uris) const;

 private:
  struct Pattern {
    Kind kind;  // `resource` also for templates
    std::string text;
    std::vector<std::string> plain;  // to compare with plain URIs; empty for other kinds
  };

  std::vector<Pattern> patterns_;
};

// Selects entries by patterns. An empty `include` includes no tool. Otherwise a kind that no pattern of `include`
// mentions is included as a whole. Immutable.
struct EntrySelection {
  EntryPatterns include;
  EntryPatterns exclude;

  // Whether the selection may leave out an entry of that kind.
  bool filters(Kind kind) const;
  // Whether the selection leaves out every entry of that kind.
  bool is_empty(Kind kind) const;
  bool admits(Kind kind, const Names& names, ComparedBy by) const;
};

}  // namespace proteus::catalog
