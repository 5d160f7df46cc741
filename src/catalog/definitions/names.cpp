#include "catalog/definitions/names.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/utf8.hpp"
#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

constexpr std::size_t kHashDigits = 8;

bool is_portable(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

// C0, DEL and, encoded as UTF-8, C1.
bool has_control_character(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7F) return true;
    if (byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) return true;
  }
  return false;
}

// Replaces each character that is not portable, however many bytes it has, by one "_".
std::string replaced(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (const char c : name) {
    if (is_portable(c)) {
      out.push_back(c);
    } else if (!is_continuation(c)) {
      out.push_back('_');
    }
  }
  return out;
}

std::string with_hash(std::string_view portable, std::string_view full, unsigned attempt) {
  const std::string salted = attempt == 0 ? std::string(full) : fmt::format("{}\n{}", full, attempt);
  const std::string digits = json::hex(json::sha256(salted)).substr(0, kHashDigits);
  return fmt::format("{}_{}", portable.substr(0, kLongestPortableName - kHashDigits - 1), digits);
}

// Returns the portable forms of full names. A name that is portable already stays. Of the others, those whose form is
// unique get no hash; the rest get one. Hashes are assigned in the order of the full names, so that the outcome depends
// only on the set of names.
std::vector<std::string> portable_names(const std::vector<std::string>& full) {
  std::vector<std::string> shown(full.size());
  // A sorted set, because a provider could choose names with the same hash.
  std::set<std::string_view> taken;
  std::map<std::string, std::size_t> wanted;
  for (std::size_t i = 0; i < full.size(); ++i) {
    shown[i] = replaced(full[i]);
    if (shown[i].size() > kLongestPortableName) continue;
    if (shown[i] == full[i]) {
      taken.insert(full[i]);
    } else {
      ++wanted[shown[i]];
    }
  }
  std::vector<std::size_t> unsettled;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (shown[i].size() <= kLongestPortableName) {
      if (shown[i] == full[i]) continue;
      if (wanted[shown[i]] == 1 && taken.insert(shown[i]).second) continue;
    }
    unsettled.push_back(i);
  }
  std::ranges::sort(unsettled, {}, [&](std::size_t i) -> std::string_view { return full[i]; });
  for (const std::size_t i : unsettled) {
    const std::string plain = std::move(shown[i]);
    for (unsigned attempt = 0;; ++attempt) {
      shown[i] = with_hash(plain, full[i], attempt);
      if (taken.insert(shown[i]).second) break;
    }
  }
  return shown;
}

}  // namespace

Result<void> check_own_name(Kind kind, std::string_view own) {
  const std::string_view what = info(kind).key;
  if (own.empty()) return std::unexpected(errors::invalid(fmt::format("its {} is empty", what)));
  if (has_control_character(own)) {
    return std::unexpected(errors::invalid(fmt::format("its {} has a control character", what)));
  }
  const std::size_t longest = is_named(kind) ? kLongestPromptName : kLongestUri;
  if (own.size() > longest)
    return std::unexpected(errors::too_large(fmt::format("the length of its {}", what), longest));
  return {};
}

Result<void> check_shown_name(Kind kind, std::string_view shown) {
  if (kind != Kind::tool) return check_own_name(kind, shown);
  if (shown.empty()) return std::unexpected(errors::invalid("its name is empty"));
  if (shown.size() > kLongestToolName) {
    return std::unexpected(
        errors::too_large(fmt::format("the name {}, with its prefix,", log::printable(shown)), kLongestToolName));
  }
  if (!std::ranges::all_of(shown, [](char c) { return is_portable(c) || c == '.'; })) {
    return std::unexpected(errors::invalid(
        fmt::format("the specification allows a tool's name only A-Z, a-z, 0-9, \"_\", \"-\" and \".\", and not {}; "
                    "names = \"portable\" offers it under another",
                    log::printable(shown))));
  }
  return {};
}

bool may_show(Kind kind, std::string_view name, const NameRules& rules) {
  if (!is_named(kind) || name.starts_with(rules.prefix)) return true;
  if (rules.style == NameStyle::as_is) return false;
  // A prefix is ASCII, and a name shortened for a hash keeps at least this much of the prefix.
  const std::string_view kept = std::string_view(rules.prefix).substr(0, kLongestPortableName - kHashDigits - 1);
  return name.size() >= kept.size() && std::ranges::equal(kept, name.substr(0, kept.size()), [](char own, char shown) {
           return shown == (is_portable(own) ? own : '_');
         });
}

std::vector<std::string> shown_names(Kind kind, std::span<const std::string_view> own, const NameRules& rules) {
  std::vector<std::string> full;
  full.reserve(own.size());
  for (const std::string_view name : own)
    full.push_back(is_named(kind) ? rules.prefix + std::string(name) : std::string(name));
  if (!is_named(kind) || rules.style == NameStyle::as_is) return full;
  return portable_names(full);
}

}  // namespace proteus::catalog
