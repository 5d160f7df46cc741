#include "gateway/identity/rule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/settings/names.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"
#include "catalog/contexts/access.hpp"
#include "gateway/callers/disclosure_choice.hpp"

namespace proteus::gateway {
namespace {

using json::field;
using json::text;

constexpr std::size_t kMaxPatterns = 10'000;
constexpr std::size_t kMaxClaims = 32;
constexpr std::size_t kLongestName = 200;
// Longer values fit only "*" and an equal pattern, because the time to match grows with the lengths of both.
constexpr std::size_t kLongestValue = 1024;

Result<> check_claim(std::string_view claim) {
  if (claim.empty() || claim.size() > 256) return std::unexpected(errors::invalid("must name a claim"));
  return {};
}

// Accepts "*", the name of a context, and "" for the plain endpoint.
Result<> check_context(std::string_view context) {
  if (context.empty() || context == "*") return {};
  return check_name(context);
}

Result<> check_upstream(std::string_view upstream) {
  if (upstream == "*") return {};
  return check_name(upstream);
}

// Checks a template such as "{sub}@{tenant}": braces come in pairs, with a claim inside.
Result<> check_template(std::string_view name) {
  while (!name.empty()) {
    const std::size_t open = name.find('{');
    const std::size_t close = name.find('}');
    if (close < open) return std::unexpected(errors::invalid("has a } without its {"));
    if (open == std::string_view::npos) return {};
    if (close == std::string_view::npos) return std::unexpected(errors::invalid("has a { without its }"));
    if (auto claim = check_claim(name.substr(open + 1, close - open - 1)); !claim) return claim;
    name.remove_prefix(close + 1);
  }
  return {};
}

// Reads a list of patterns, or one pattern as a list of one.
json::Codec<std::vector<std::string>> patterns() {
  auto codec = json::list(text({.max_bytes = 1024}), "patterns", {.least = 1, .most = kMaxPatterns});
  codec.type = "pattern or list of patterns";
  codec.read = [read = codec.read](const boost::json::value& value, std::vector<std::string>& onto,
                                   const json::Place& place) {
    read(value.is_string() ? boost::json::value(boost::json::array{value}) : value, onto, place);
  };
  return codec;
}

std::vector<std::string> values_of(const auth::Claims& claims, std::string_view claim) {
  return claims.values(claim == "issuer" ? "iss" : claim);
}

bool has_fitting_value(const auth::Claims& claims, std::string_view claim, const std::vector<std::string>& wanted) {
  const auto values = values_of(claims, claim);
  return std::ranges::any_of(values, [&](const std::string& value) {
    return std::ranges::any_of(wanted, [&](const std::string& pattern) {
      if (pattern == "*" || pattern == value) return true;
      return value.size() <= kLongestValue && catalog::fits(pattern, value);
    });
  });
}

const std::string* first_missing(const Rule& rule, const auth::Claims& claims) {
  for (const auto& [claim, wanted] : rule.match) {
    if (!has_fitting_value(claims, claim, wanted)) return &claim;
  }
  return nullptr;
}

}  // namespace

std::string_view to_string(AdminRole role) {
  switch (role) {
    case AdminRole::viewer: return "viewer";
    case AdminRole::admin: return "admin";
    case AdminRole::none: break;
  }
  return "none";
}

const json::Binding<Rule>& rule_binding() {
  using S = Rule;
  static const json::Binding<S> binding{
      field(
          "match", &S::match, json::map(patterns(), "patterns", check_claim, {.least = 0, .most = kMaxClaims}),
          "Claims and their patterns: of each claim, one value must fit one pattern. `issuer` is the issuer, `scp` "
          "counts as `scope`, and a nested claim is written `realm_access.roles`. Without it the rule fits everybody."),
      field("name", &S::name, text({.max_bytes = 256, .check = check_template}),
            "Name of the principal in logs and audits; `{claim}` stands for a claim's first value."),
      field("upstreams", &S::upstreams, json::list(text({.check = check_upstream}), "strings", {.most = kMaxPatterns}),
            "Upstreams they may use; `*` for all."),
      field("tools", &S::tools, json::list(text({.max_bytes = 1024}), "patterns", {.most = kMaxPatterns}),
            "Names, as clients see them, that they may use; `prompt:x*` and `resource:x*` are prompts and resources."),
      field("deny", &S::deny, json::list(text({.max_bytes = 1024}), "patterns", {.most = kMaxPatterns}),
            "Names they may not use, even if `tools` has them."),
      field("read_only", &S::read_only, json::boolean(),
            "Whether they may use only tools that declare `readOnlyHint`."),
      field("contexts", &S::contexts, json::list(text({.check = check_context}), "strings"),
            "Contexts they may use; `*` for all, `\"\"` for plain `/mcp`."),
      field("admin", &S::admin,
            json::choice<AdminRole>(
                {{"none", AdminRole::none}, {"viewer", AdminRole::viewer}, {"admin", AdminRole::admin}}),
            "Whether they may use the admin API, with a token for `/admin`: `viewer` may only look."),
      field("requests_per_minute", &S::requests_per_minute, json::integer<unsigned>(0, 1'000'000'000),
            "Requests per minute for each of them; 0: only the limit that holds for everybody."),
      field("disclosure", &S::disclosure, disclosure_choice(),
            "What `tools/list` shows them: `all` tools they may use, or `search`: tools to search and call the others "
            "with."),
  };
  return binding;
}

bool fits(const Rule& rule, const auth::Claims& claims) { return first_missing(rule, claims) == nullptr; }

std::optional<std::string> why_not(const Rule& rule, const auth::Claims& claims) {
  const std::string* missing = first_missing(rule, claims);
  if (missing == nullptr) return std::nullopt;
  if (values_of(claims, *missing).empty()) return fmt::format("the claim {} is missing", *missing);
  return fmt::format("no value of the claim {} fits", *missing);
}

const Rule* first_that_fits(std::span<const Rule> rules, const auth::Claims& claims) {
  const auto found = std::ranges::find_if(rules, [&](const Rule& rule) { return fits(rule, claims); });
  return found == rules.end() ? nullptr : &*found;
}

std::string name_of(const Rule& rule, const auth::Claims& claims) {
  std::string name;
  std::string_view rest = rule.name;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    name += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    const auto values = values_of(claims, rest.substr(open + 1, close - open - 1));
    if (!values.empty()) name += cut_text(values.front(), kLongestName);
    rest.remove_prefix(close + 1);
  }
  if (name.empty()) name = claims.subject();
  return visible_text(cut_text(name, kLongestName));
}

}  // namespace proteus::gateway
