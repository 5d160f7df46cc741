#include "providers/tool_settings.hpp"

#include "catalog/contexts/entry_patterns.hpp"

namespace proteus::providers {
namespace {

using json::field;
using json::text;

Result<> check_scope(std::string_view scope) {
  if (catalog::is_scope(scope)) return {};
  return std::unexpected(errors::invalid("is no scope: printable characters, without spaces, quotes and backslashes"));
}

}  // namespace

const json::Binding<ToolSettings>& tool_binding() {
  using S = ToolSettings;
  static const json::Binding<S> binding{
      field("match", &S::match,
            json::list(text({.max_bytes = 1024, .check = catalog::check_entry_pattern}), "patterns", {.least = 1}),
            "Entries that this is about, by the upstream's own names; `*` matches any characters. `prompt:x*` matches "
            "prompts, `resource:x*` resources and templates by URI.")
          .required(),
      field("scopes", &S::scopes, json::list(text({.max_bytes = 256, .check = check_scope}), "strings", {.most = 100}),
            "Scopes that a caller's access token must have to use them. Callers with a static token need none."),
  };
  return binding;
}

std::shared_ptr<const catalog::RequiredScopes> required_scopes(const std::vector<ToolSettings>& tools) {
  std::vector<catalog::ScopeRule> rules;
  for (const auto& each : tools) {
    if (!each.scopes.empty()) rules.push_back({each.match, each.scopes});
  }
  return rules.empty() ? nullptr : std::make_shared<const catalog::RequiredScopes>(rules);
}

}  // namespace proteus::providers
