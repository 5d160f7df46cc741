#include "catalog/contexts/entry_patterns.hpp"

#include <algorithm>

#include "base/settings/names.hpp"
#include "catalog/definitions/plain_uri.hpp"

namespace proteus::catalog {
namespace {

constexpr std::string_view kPrompt = "prompt:";
constexpr std::string_view kResource = "resource:";

// The same patterns select resources and templates.
Kind group_of(Kind kind) { return kind == Kind::resource_template ? Kind::resource : kind; }

struct OfKind {
  Kind kind;
  std::string_view text;
};

OfKind of_kind(std::string_view pattern) {
  if (pattern.starts_with(kPrompt)) return {Kind::prompt, pattern.substr(kPrompt.size())};
  if (pattern.starts_with(kResource)) return {Kind::resource, pattern.substr(kResource.size())};
  return {Kind::tool, pattern};
}

bool fits_any_name(std::string_view pattern, const Names& names) {
  if (fits(pattern, names.shown) || fits(pattern, names.own)) return true;
  const bool has_alias = !names.prefix.empty() && names.shown.size() != names.prefix.size() + names.own.size();
  return has_alias && fits(pattern, std::string(names.prefix) + std::string(names.own));
}

}  // namespace

// After a mismatch only the last star is tried again: it can take whatever an earlier star could take.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken_from = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken_from = in_text;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++taken_from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

Result<> check_entry_pattern(std::string_view pattern) {
  const auto [kind, text] = of_kind(pattern);
  if (text.empty())
    return std::unexpected(errors::invalid("is an empty pattern, which fits nothing; * fits everything"));
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    return std::unexpected(errors::invalid("has a control character, which no name has"));
  const auto in_tool_name = [](char c) { return is_name_character(c) || c == '*' || c == '?'; };
  if (kind == Kind::tool && !std::ranges::all_of(text, in_tool_name)) {
    return std::unexpected(
        errors::invalid("fits no tool: a tool's name has only letters, digits, hyphens, underscores and dots. Patterns "
                        "of prompts begin with prompt: and those of resources with resource:"));
  }
  return {};
}

EntryPatterns::EntryPatterns(const std::vector<std::string>& written) {
  patterns_.reserve(written.size());
  for (const auto& each : written) {
    const auto [kind, text] = of_kind(each);
    Pattern& pattern = patterns_.emplace_back(kind, std::string(text));
    if (kind == Kind::resource) pattern.plain = plain_uri_patterns(text);
  }
}

bool EntryPatterns::speak_of(Kind kind) const {
  return std::ranges::find(patterns_, group_of(kind), &Pattern::kind) != patterns_.end();
}

bool EntryPatterns::fit_all(Kind kind) const {
  return std::ranges::any_of(patterns_,
                             [&](const Pattern& each) { return each.kind == group_of(kind) && each.text == "*"; });
}

bool EntryPatterns::fit(Kind kind, const Names& names, ComparedBy by) const {
  return std::ranges::any_of(patterns_, [&](const Pattern& each) {
    if (each.kind != group_of(kind)) return false;
    return by == ComparedBy::shown_name ? fits(each.text, names.shown) : fits_any_name(each.text, names);
  });
}

bool EntryPatterns::fit_plain(Kind kind, std::span<const std::string> uris) const {
  const auto fits_any = [&](const std::string& form) {
    return std::ranges::any_of(uris, [&](const std::string& uri) { return fits(form, uri); });
  };
  return std::ranges::any_of(patterns_, [&](const Pattern& each) {
    return each.kind == group_of(kind) && std::ranges::any_of(each.plain, fits_any);
  });
}

bool EntrySelection::filters(Kind kind) const {
  if (exclude.speak_of(kind)) return true;
  if (include.empty()) return kind == Kind::tool;
  return include.speak_of(kind) && !include.fit_all(kind);
}

bool EntrySelection::is_empty(Kind kind) const {
  return exclude.fit_all(kind) || (include.empty() && kind == Kind::tool);
}

// A URI is compared as written and in its plain spellings. What is written and one spelling must be included, and
// nothing excluded.
bool EntrySelection::admits(Kind kind, const Names& names, ComparedBy by) const {
  const bool whole = include.empty() ? kind != Kind::tool : !include.speak_of(kind);
  if (!whole && !include.fit(kind, names, by)) return false;
  if (exclude.fit(kind, names, by)) return false;
  if (group_of(kind) != Kind::resource || !filters(kind)) return true;
  const auto plain = plain_uris(names.shown);
  return !plain.empty() && (whole || include.fit_plain(kind, plain)) && !exclude.fit_plain(kind, plain);
}

}  // namespace proteus::catalog
