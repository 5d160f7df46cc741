// The gateway's own credentials at upstreams that use OAuth.
#include "base/log/log.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/grants/grant_authorizer.hpp"

namespace proteus::gateway {

bool Gateway::waits_for_callers(const providers::UpstreamSettings& settings) const {
  return settings.authentication.is_per_caller() &&
         vault_->state(gateway_owner(), target_of(settings)) != GrantState::connected;
}

// Lists for all callers are read as the gateway, and never as one of the callers (UPC-15).
void Gateway::set_credentials(const providers::UpstreamSettings& settings,
                              providers::UpstreamDependencies& around) const {
  if (!settings.authentication.is_oauth()) return;
  around.waits_for_callers = waits_for_callers(settings);
  if (around.waits_for_callers) return;
  around.authorizer = std::make_shared<GrantAuthorizer>(*vault_, gateway_owner(), target_of(settings));
}

Task<> Gateway::renew_upstreams() {
  const auto turn = co_await changes_.take();
  if (stopping_) co_return;
  Settings settings;
  for (const auto& served : tables_.get()->order)
    settings.push_back(served->settings());
  if (const auto renewed = co_await change_in_turn(std::move(settings), ChangedBy::this_process); !renewed)
    log::warning("upstreams are not made anew: {}", renewed.error().message());
}

}  // namespace proteus::gateway
