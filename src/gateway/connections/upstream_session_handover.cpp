// Upstream sessions that another process continues.
#include "gateway/connections/upstream_session.hpp"

namespace proteus::gateway {

void UpstreamSession::on_agreed(const client::ServerFacts& facts) {
  const auto upstream = upstream_.lock();
  if (!upstream || facts.era() != mcp::Era::legacy || !facts.keeps_session) return;
  auto session = connection_->session();
  if (!session) return observer_.agreed(upstream->settings(), std::nullopt);
  observer_.agreed(upstream->settings(), client::ResumedSession{std::move(*session), facts.capabilities});
}

void UpstreamSession::leave() {
  retire();
  connection_->leave_session();
}

}  // namespace proteus::gateway
