#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/strong.hpp"
#include "catalog/definitions/kind.hpp"

namespace proteus::catalog {

// What an upstream, or any other provider, is called in the configuration.
using UpstreamName = Strong<std::string, struct UpstreamNameTag>;

enum class NameStyle : std::uint8_t {
  as_is,
  portable,  // only names that every known client accepts: letters, digits, "_" and "-", at most 64
};

// How the names of one provider become those that clients see. Resources and templates keep their URIs.
struct NameRules {
  std::string prefix;
  NameStyle style = NameStyle::as_is;

  friend bool operator==(const NameRules&, const NameRules&) = default;
};

inline constexpr std::size_t kLongestToolName = 128;
inline constexpr std::size_t kLongestPortableName = 64;
// Of what the specification sets no limit to.
inline constexpr std::size_t kLongestPromptName = 1024;
inline constexpr std::size_t kLongestUri = 8192;

// Whether a provider may call something that at all: not empty, without control characters, not absurdly long. The
// message says why not.
Result<void> check_own_name(Kind kind, std::string_view own);

// Whether clients may be shown it. For tools the rules of the specification, revisions 2025-11-25 and 2026-07-28,
// section "Tool Names": 1 to 128 of A-Z a-z 0-9 _ - and the dot. It says "should", but a client may take it at its
// word, and then one such name spoils the whole list.
Result<void> check_shown_name(Kind kind, std::string_view shown);

// Whether a provider with these rules can show something by this name. For resources and templates: always.
bool may_show(Kind kind, std::string_view name, const NameRules& rules);

// The names clients see for these own names, which are distinct; one each, in the same order. Which name becomes which
// depends on the set of names, not on their order. The names are distinct, too.
std::vector<std::string> shown_names(Kind kind, std::span<const std::string_view> own, const NameRules& rules);

}  // namespace proteus::catalog
