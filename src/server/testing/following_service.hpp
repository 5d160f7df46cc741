#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/service.hpp"

namespace proteus::server {

// Accepts every subscription, and records on whose behalf it subscribes.
class FollowingService : public Service {
 public:
  Face face(const Caller&, mcp::Era) override { return {}; }
  mcp::ResultStyle modern_style() const override { return {mcp::Era::modern, {}, {}}; }
  Task<mcp::Outcome> handle(Call&) override { co_return mcp::Reply{}; }
  std::optional<mcp::Outcome> answer(Call&) override { return std::nullopt; }
  mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const Caller&, Session*) override {
    return wanted;
  }
  Task<std::vector<Refused>> follow(const Caller&, std::string_view authorization, Session*, const mcp::Request&,
                                    const mcp::SubscriptionFilter&) override {
    authorizations.emplace_back(authorization);
    co_return sources ? sources() : std::vector<Refused>{};
  }
  void session_listens(Session&) override {}
  void client_notified(Session&, const json::Message&) override {}

  std::vector<std::string> authorizations;
  std::function<std::vector<Refused>()> sources;  // what they say to a subscription; empty: they agree
};

}  // namespace proteus::server
