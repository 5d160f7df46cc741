#include "auth/oauth/scopes.hpp"

#include <algorithm>
#include <unordered_set>

namespace proteus::auth::oauth {
namespace {

// RFC 6749, section 3.3
bool is_scope(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

// Appends the valid scopes that `onto` lacks, up to the limit.
void add_scopes(Scopes& onto, std::span<const std::string> more) {
  std::unordered_set<std::string_view> known;
  Scopes added;
  for (const std::string& scope : onto)
    known.insert(scope);
  for (const std::string& scope : more) {
    if (is_scope(scope) && onto.size() + added.size() < kMaxScopes && known.insert(scope).second)
      added.push_back(scope);
  }
  onto.insert(onto.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

}  // namespace

Scopes read_scopes(std::string_view text) {
  Scopes all;
  while (!text.empty()) {
    const std::string_view scope = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), scope.size() + 1));
    if (!scope.empty()) all.emplace_back(scope);
  }
  return united({}, all);
}

std::string write_scopes(std::span<const std::string> scopes) {
  std::string out;
  for (const std::string& scope : scopes) {
    if (!out.empty()) out.push_back(' ');
    out += scope;
  }
  return out;
}

Scopes united(std::span<const std::string> first, std::span<const std::string> second) {
  Scopes all;
  add_scopes(all, first);
  add_scopes(all, second);
  return all;
}

bool includes(std::span<const std::string> all, std::span<const std::string> some) {
  const std::unordered_set<std::string_view> known(all.begin(), all.end());
  return std::ranges::all_of(some, [&](const std::string& scope) { return known.contains(scope); });
}

std::optional<Scopes> StepUp::widen(std::span<const std::string> wanted) {
  if (times_ == kMostTimes || includes(asked_, wanted)) return std::nullopt;
  ++times_;
  asked_ = united(asked_, wanted);
  return asked_;
}

}  // namespace proteus::auth::oauth
