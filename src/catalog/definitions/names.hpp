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

// The configured name of an upstream or another provider.
using UpstreamName = Strong<std::string, struct UpstreamNameTag>;

enum class NameStyle : std::uint8_t {
  as_is,
  portable,  // accepted by every known client: letters, digits, "_" and "-", at most 64
};

// How one provider's names become those that clients see. Resources and templates keep their URIs.
struct NameRules {
  std::string prefix;
  NameStyle style = NameStyle::as_is;

  friend bool operator==(const NameRules&, const NameRules&) = default;
};

inline constexpr std::size_t kLongestToolName = 128;
inline constexpr std::size_t kLongestPortableName = 64;
// Our own limits; the specification has none for these.
inline constexpr std::size_t kLongestPromptName = 1024;
inline constexpr std::size_t kLongestUri = 8192;

// Fails if a provider's own name cannot be used at all: it is empty, has control characters, or exceeds our limit. The
// error says why.
Result<void> check_own_name(Kind kind, std::string_view own);

// Fails if clients must not see the name. For tools, applies the rules of the specification, revisions 2025-11-25 and
// 2026-07-28, section "Tool Names": 1 to 128 of A-Z a-z 0-9 _ - and the dot. The specification says "should", but a
// client may enforce it, and then one bad name spoils the whole list.
Result<void> check_shown_name(Kind kind, std::string_view shown);

// Whether a provider with these rules can show an entry by this name. Always true for resources and templates.
bool may_show(Kind kind, std::string_view name, const NameRules& rules);

// Returns the names that clients see, one for each own name, in the same order. The own names must be distinct; the
// results are distinct, too. The result for a name depends on the set of names, but not on their order.
std::vector<std::string> shown_names(Kind kind, std::span<const std::string_view> own, const NameRules& rules);

}  // namespace proteus::catalog
