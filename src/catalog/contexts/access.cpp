#include "catalog/contexts/access.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

// Sorts the patterns and drops duplicates: neither makes a difference to what they allow.
std::vector<std::string> each_once(std::vector<std::string> patterns) {
  std::ranges::sort(patterns);
  const auto doubles = std::ranges::unique(patterns);
  patterns.erase(doubles.begin(), doubles.end());
  return patterns;
}

// Joins the patterns, each after its length, so that different lists never yield the same text.
std::string written(const std::vector<std::string>& patterns) {
  std::string all;
  for (const auto& pattern : patterns)
    all += fmt::format("{}:{}", pattern.size(), pattern);
  return all;
}

}  // namespace

Access Access::all() {
  Access access;
  access.all_ = true;
  access.fingerprint_ = "*";
  return access;
}

Access Access::only(std::vector<std::string> patterns, EntryRules rules) {
  Access access;
  access.all_ = std::ranges::find(patterns, "*") != patterns.end();
  if (!access.all_) access.patterns_ = each_once(std::move(patterns));
  const bool every_entry = rules.allow_all();
  if (access.all_ && every_entry) return all();
  std::string rule = access.all_ ? "*" : written(access.patterns_);
  if (!every_entry) {
    rules.allow = each_once(std::move(rules.allow));
    rules.deny = each_once(std::move(rules.deny));
    rule += fmt::format("\nallow {}\ndeny {}\n{}", written(rules.allow), written(rules.deny), rules.read_only);
    access.entries_ = std::make_shared<const EntryFilter>(rules);
  }
  access.fingerprint_ = json::hex(json::sha256(rule));
  return access;
}

bool Access::allows(const UpstreamName& upstream) const {
  return all_ || std::ranges::any_of(patterns_, [&](const auto& pattern) { return fits(pattern, upstream.value()); });
}

}  // namespace proteus::catalog
