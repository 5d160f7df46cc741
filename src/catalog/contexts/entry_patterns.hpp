#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/contexts/lens.hpp"
#include "catalog/definitions/kind.hpp"

namespace proteus::catalog {

// Whether a text fits a pattern, in which "*" stands for any characters and "?" for any one. Takes time proportional to
// the lengths of both, multiplied, at worst.
bool fits(std::string_view pattern, std::string_view text);

// Whether a pattern of entries can fit anything. The message says why not.
Result<> check_entry_pattern(std::string_view pattern);

// Which names of an entry patterns are compared with.
enum class ComparedBy : std::uint8_t { shown_name, any_name };

// Patterns of entries: one without a kind in front is of tools, "prompt:x*" is of prompts, and "resource:x*" of
// resources and templates, by URI. Immutable.
class EntryPatterns {
 public:
  EntryPatterns() = default;
  explicit EntryPatterns(const std::vector<std::string>& written);

  bool empty() const { return patterns_.empty(); }
  bool speak_of(Kind kind) const;
  // Whether one fits everything of a kind.
  bool fit_all(Kind kind) const;
  bool fit(Kind kind, const Names& names, ComparedBy by) const;
  // The same for a URI in its plain form: see plain_uri.
  bool fit_plain(Kind kind, std::string_view uri) const;

 private:
  struct Pattern {
    Kind kind;  // templates are like resources
    std::string text;
    std::string plain;  // of a URI
  };

  std::vector<Pattern> patterns_;
};

// Entries that some patterns let in, and others keep out. An empty `include` lets no tool in; otherwise a kind that
// none of its patterns speaks of is in as a whole. Immutable.
struct EntrySelection {
  EntryPatterns include;
  EntryPatterns exclude;

  // Whether there is anything of that kind that it might not admit.
  bool filters(Kind kind) const;
  // Whether it admits nothing of that kind, whatever its name.
  bool is_empty(Kind kind) const;
  bool admits(Kind kind, const Names& names, ComparedBy by) const;
};

}  // namespace proteus::catalog
