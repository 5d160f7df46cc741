#include "gateway/sign_in/sign_in_desk.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace proteus::gateway {

SignInDesk::SignInDesk(Dependencies dependencies, SealingKey key)
    : gateway_(dependencies.gateway),
      tickets_(key, dependencies.clock),
      awaited_(dependencies.clock),
      authorizations_({dependencies.gateway, dependencies.vault, dependencies.clock, dependencies.environment}),
      host_({dependencies.gateway, dependencies.vault, dependencies.store, dependencies.clock,
             std::move(dependencies.find_operator)}),
      site_({host_, authorizations_, tickets_, awaited_, dependencies.clock}, key),
      questions_({tickets_, awaited_, [this] { return host_.gateway_url(); }}) {
  dependencies.vault.on_change([this](const GrantChange& change) { changed(change); });
}

Result<std::string> SignInDesk::url_for_operator(const std::string& upstream, const std::string& who,
                                                 const std::string& issuer) {
  const auto settings = host_.upstream(upstream);
  if (!settings)
    return std::unexpected(errors::not_found(fmt::format("there is no upstream {}", log::printable(upstream, 100))));
  const auto& authentication = settings->authentication;
  if (!authentication.is_oauth() || authentication.oauth.is_automatic()) {
    return std::unexpected(errors::conflict(
        fmt::format("nobody signs in at {}: its authentication is not that of OAuth with a code", upstream)));
  }
  if (authentication.is_per_caller()) {
    return std::unexpected(
        errors::conflict(fmt::format(R"(each user connects {} for themselves: its subject is "caller")", upstream)));
  }
  auto issued = tickets_.issue(
      {.person = {Person::Kind::admin, who, issuer}, .person_name = who, .upstream = upstream});
  if (!issued) return std::unexpected(issued.error());
  return fmt::format("{}/connect/{}", host_.gateway_url(), issued->text);
}

void SignInDesk::changed(const GrantChange& change) {
  const auto table = gateway_.upstreams();
  for (const ServedUpstream& served : table->order) {
    if (!served->settings().authentication.is_oauth() || target_of(served->settings()) != change.grant->target)
      continue;
    served->lists_changed();
    if (change.grant->owner == gateway_owner()) {
      served->refresh_soon();
      continue;
    }
  }
  gateway_.listeners_of_owner_changed(change.grant->owner);
}

}  // namespace proteus::gateway
