#include "gateway/routing/scope_check.hpp"

#include "mcp/insufficient_scope.hpp"

namespace proteus::gateway {
namespace {

catalog::Scopes required_by(const Route& route) {
  const auto& rules = route.upstream->required_scopes();
  catalog::Scopes required = rules->of(route.kind, route.own);
  // A rule may name the template, or a URI that matches it.
  const bool by_template = route.found && route.found.definition->pattern != nullptr;
  if (by_template) {
    for (auto& scope : rules->of(catalog::Kind::resource_template, route.found.definition->own))
      required.push_back(std::move(scope));
  }
  return catalog::scopes_of(std::move(required));
}

}  // namespace

Result<> check_scopes(const Route& route, const Principal& principal, RefusalLog& refusals) {
  if (principal.scopes() == nullptr || !route.upstream || !route.upstream->required_scopes()) return {};
  const catalog::Scopes required = required_by(route);
  const catalog::Scopes missing = catalog::missing_scopes(required, *principal.scopes());
  if (missing.empty()) return {};
  Error refusal = mcp::errors::insufficient_scope(missing, catalog::scopes_to_request(required, *principal.scopes()));
  refusals.add({.reason = RefusalReason::scope, .why = refusal.message(), .principal = principal.name()});
  return std::unexpected(std::move(refusal));
}

}  // namespace proteus::gateway
