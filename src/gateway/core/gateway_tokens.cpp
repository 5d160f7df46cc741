// Tokens made at runtime, and the end of what callers have open when their tokens end.
#include <algorithm>

#include <boost/asio/post.hpp>

#include "base/log/log.hpp"
#include "gateway/core/gateway.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

void Gateway::set_tokens(std::shared_ptr<const IssuedTokens> tokens) {
  const std::scoped_lock lock(setting_access_);
  const auto before = access_.get();
  access_.set(std::make_shared<const Access>(before->principals, before->contexts, std::move(tokens)));
}

void Gateway::end_streams_of(const Principal& principal) {
  principal.withdraw();
  listeners_.end_of(principal.key(),
                    [&](const server::Caller& caller) { return principal_of(caller).token() == principal.token(); });
}

void Gateway::end_callers(const std::unordered_set<std::string>& keys, const std::string& why) {
  const server::Listeners::Concerns everybody = [](const server::Caller&) { return true; };
  for (const auto& key : keys) {
    listeners_.end_of(key, everybody);
    endpoint_->sessions().end_of(key, everybody, why);
  }
  end_calls([keys](const server::Caller& caller) { return keys.contains(caller.principal); }, why);
  forget_all(keys);
}

void Gateway::forget_all(const std::unordered_set<std::string>& keys) {
  if (keys.empty()) return;
  for (const auto& key : keys) {
    service_->parked().cancel_of(key);
    forget(key);
  }
  // A call that was not parked yet may have been parked before its request was cancelled.
  for (const auto& part : parts_) {
    asio::post(part->io(), [this, &io = part->io(), keys] {
      // `end_calls` has only posted the cancellations.
      asio::post(io, [this, keys] {
        for (const auto& key : keys)
          service_->parked().cancel_of(key);
      });
    });
  }
}

void Gateway::end_calls(const server::Listeners::Concerns& whose, const std::string& why) {
  for (const auto& part : parts_)
    asio::post(part->io(), [worker = part.get(), whose, why] { worker->end_calls(whose, why); });
}

void Gateway::end_expired() {
  const auto access = access_.get();
  const auto now = clock_.wall();
  std::unordered_set<std::string> keys;
  const auto end = [&](const std::shared_ptr<const Principal>& principal) {
    if (!principal->has_expired(now) || !principal->holds()) return;
    end_streams_of(*principal);
    keys.insert(principal->key());
  };
  std::ranges::for_each(access->principals->expiring(), end);
  if (access->tokens) std::ranges::for_each(access->tokens->expiring(), end);
  if (keys.empty()) return;
  if (access->tokens) {
    for (const auto& key : access->tokens->keys_at(now))
      keys.erase(key);
  }
  if (!keys.empty()) log::info("tokens that have expired: {}", keys.size());
  end_callers(keys, "the token has expired");
}

std::optional<Clock::Wall> Gateway::next_expiry() const {
  const auto access = access_.get();
  std::optional<Clock::Wall> next;
  const auto look = [&](const std::shared_ptr<const Principal>& principal) {
    if (principal->holds() && (!next || *principal->expires() < *next)) next = principal->expires();
  };
  std::ranges::for_each(access->principals->expiring(), look);
  if (access->tokens) std::ranges::for_each(access->tokens->expiring(), look);
  return next;
}

bool Gateway::knows_token(const json::Digest& token) const {
  const auto access = access_.get();
  return access->principals->knows(token) || (access->tokens && access->tokens->knows(token));
}

}  // namespace proteus::gateway
