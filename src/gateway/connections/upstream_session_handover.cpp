// A session with an upstream that another process goes on with.
#include "gateway/connections/upstream_session.hpp"

namespace proteus::gateway {

void UpstreamSession::on_agreed(const std::string& upstream, const client::ServerFacts& facts) {
  if (facts.era() != mcp::Era::legacy || !facts.keeps_session) return;
  auto session = connection_->session();
  if (!session) return observer_.agreed(upstream, std::nullopt);
  observer_.agreed(upstream, client::ResumedSession{std::move(*session), facts.capabilities});
}

void UpstreamSession::leave() {
  retire();
  connection_->leave_session();
}

}  // namespace proteus::gateway
