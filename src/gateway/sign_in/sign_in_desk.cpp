#include "gateway/sign_in/sign_in_desk.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::gateway {

SignInDesk::SignInDesk(Dependencies dependencies, SealingKey key)
    : gateway_(dependencies.gateway),
      vault_(dependencies.vault),
      tickets_(key, dependencies.clock),
      awaited_(dependencies.clock, [this](const Ticket& ticket) { return is_connected(ticket); }),
      authorizations_({dependencies.gateway, dependencies.vault, dependencies.clock}),
      host_({dependencies.gateway, dependencies.vault, dependencies.store, dependencies.clock,
             std::move(dependencies.find_operator)}),
      site_({host_, authorizations_, tickets_, awaited_, dependencies.clock}, key),
      questions_({tickets_, awaited_, [this] { return host_.gateway_url(); },
                  [this](const GrantOwner& owner, const GrantTarget& target) { return vault_.find(owner, target); },
                  std::move(dependencies.process)}) {
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
  auto issued =
      tickets_.issue({.person = {Person::Kind::admin, who, issuer}, .person_name = who, .upstream = upstream});
  if (!issued) return std::unexpected(issued.error());
  return fmt::format("{}/connect/{}", host_.gateway_url(), issued->text);
}

Task<Result<Vault::Disconnected>> SignInDesk::disconnect(std::string id, std::string who) {
  co_return co_await boost::asio::co_spawn(gateway_.control(), vault_.disconnect(std::move(id), std::move(who)),
                                           boost::asio::use_awaitable);
}

bool SignInDesk::is_connected(const Ticket& ticket) const {
  const auto settings = host_.upstream(ticket.upstream);
  if (!settings) return false;
  const auto target = wanted_target(*settings, ticket.person.issuer);
  const auto grant = vault_.find(GrantOwner(ticket.person.key), target);
  if (!grant || grant->state != GrantState::connected) return false;
  // The earlier grant does not suffice: it lacks scopes, or what the identity provider said has expired.
  const bool needs_another = !ticket.scopes.empty() || is_identity(target);
  return !needs_another || grant->connected_at != ticket.connected_at;
}

// Outdates the lists of all upstreams that share the connection, then notifies each listener once per kind.
void SignInDesk::changed(const GrantChange& change) {
  const auto table = gateway_.upstreams();
  std::vector<catalog::UpstreamName> concerned;
  for (const ServedUpstream& served : table->order) {
    const auto& settings = served->settings();
    if (!settings.authentication.is_oauth()) continue;
    if (wanted_target(settings, change.grant->issuer()) != change.grant->target) continue;
    served->lists_changed();
    concerned.push_back(served->name());
  }
  if (change.grant->owner == gateway_owner()) return;
  if (change.state == GrantState::connected) awaited_.connected(change.grant->owner.value());
  const server::Listeners::Concerns is_owner = [&](const server::Caller& caller) {
    const Principal& principal = principal_of(caller);
    return owner_of(principal) == change.grant->owner &&
           std::ranges::any_of(concerned, [&](const auto& name) { return principal.access().allows(name); });
  };
  for (const catalog::Kind kind : {catalog::Kind::tool, catalog::Kind::prompt, catalog::Kind::resource})
    gateway_.listeners().list_changed(catalog::info(kind).changed_method, is_owner);
}

}  // namespace proteus::gateway
