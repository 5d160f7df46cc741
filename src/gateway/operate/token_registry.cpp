#include "gateway/operate/token_registry.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/log/log.hpp"
#include "base/settings/units.hpp"
#include "base/text/base64.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "json/fault_error.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kToken = "the token";
constexpr std::string_view kRotation = "the rotation";
constexpr std::size_t kSecretBytes = 32;

// The prefix helps scanners that look for secrets published by accident.
Secret random_token() { return Secret("proteus_" + base64_encode(random_bytes(kSecretBytes), Base64::url)); }

Error unknown_token(std::string_view name) {
  return errors::not_found(fmt::format("there is no token {} that was made at runtime", log::printable(name, 100)));
}

// Returns the earlier time. `b` may be absent, `a` not.
store::Time earlier(store::Time a, store::Time b) { return b == store::Time{} ? a : std::min(a, b); }

}  // namespace

std::string RuntimeToken::key() const { return fmt::format("{}#{}", keys.name, store::microseconds(created_at)); }

TokenRegistry::TokenRegistry(Dependencies dependencies)
    : dependencies_(dependencies),
      all_(std::make_shared<const RuntimeTokens>()),
      one_at_a_time_(dependencies_.control.get_executor()),
      background_(dependencies_.control.get_executor()),
      timer_(dependencies_.control) {}

Task<Result<TokenRegistry::Issued>> TokenRegistry::create(boost::json::value given, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_create(std::move(given), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<TokenRegistry::Issued>> TokenRegistry::rotate(std::string name, boost::json::value given, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_rotate(std::move(name), std::move(given), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<TokenRegistry::Revoked>> TokenRegistry::revoke(std::string name, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_revoke(std::move(name), std::move(who)),
                                    asio::use_awaitable);
}

RuntimeTokenPointer TokenRegistry::find(std::string_view name) const {
  const auto all = all_.get();
  const auto found = all->find(name);
  return found == all->end() ? nullptr : found->second;
}

store::Time TokenRegistry::last_used(const RuntimeToken& token) const {
  const auto at = token.use->at();
  if (!at) return token.used_before;
  return store::to_time(dependencies_.clock.wall() -
                        std::chrono::duration_cast<Clock::Wall::duration>(dependencies_.clock.now() - *at));
}

std::shared_ptr<const Principal> TokenRegistry::holder(const RuntimeToken& token, const json::Digest& digest,
                                                       store::Time until) {
  // A secret keeps its grant when its principal is replaced, so that whoever was admitted before is withdrawn with it.
  const auto before = find(token.name());
  const Principal* former = nullptr;
  if (before && before->key() == token.key()) {
    for (const Principal* one : {before->principal.get(), before->previous.get()}) {
      if (one != nullptr && one->token() == digest && one->holds()) former = one;
    }
  }
  return std::make_shared<const Principal>(
      Principal::Parts{.name = token.name(),
                       .permissions = permissions_.add(permissions_of(token.keys.settings())),
                       .key = token.key(),
                       .token = digest,
                       .expires = until == store::Time{} ? std::nullopt : std::optional(Clock::Wall(until))},
      former);
}

void TokenRegistry::publish(RuntimeTokens tokens) {
  // Drops permissions that no token uses any more, from time to time.
  if (permissions_.size() > 2 * tokens.size() + 64) {
    PermissionsTable used;
    for (const auto& [name, token] : tokens) {
      if (token->principal) used.add(token->principal->permissions(), &permissions_);
    }
    permissions_ = std::move(used);
  }
  std::vector<IssuedTokens::Entry> entries;
  entries.reserve(tokens.size());
  for (const auto& [name, token] : tokens) {
    if (blind_) break;
    if (token->principal) entries.push_back({token->principal, token->use});
    if (token->previous) entries.push_back({token->previous, token->use});
  }
  all_.set(std::make_shared<const RuntimeTokens>(std::move(tokens)));
  dependencies_.gateway.set_tokens(std::make_shared<const IssuedTokens>(std::move(entries)));
}

void TokenRegistry::put(RuntimeTokenPointer token) {
  RuntimeTokens next = *all_.get();
  next.insert_or_assign(token->name(), token);
  publish(std::move(next));
}

store::Write TokenRegistry::audit(std::string who, std::string what, boost::json::object detail) const {
  return audit_entry(dependencies_.clock, std::move(who), std::move(what), detail);
}

Result<TokenKeys> TokenRegistry::read_keys(const boost::json::value& given, store::Time& expires_at) const {
  TokenKeys keys;
  json::Faults faults;
  const json::Place root(faults);
  token_binding().read(given, keys, root);
  const json::Place contexts = root.member("contexts");
  for (std::size_t i = 0; i < keys.contexts.size(); ++i) {
    const std::string& name = keys.contexts[i];
    if (!name.empty() && name != "*" && !dependencies_.gateway.has_context(name))
      contexts.item(i).fault(fmt::format("there is no context {}", log::printable(name, 100)));
  }
  if (!keys.expires.empty()) {
    const auto at = read_expiry(std::exchange(keys.expires, {}), dependencies_.clock.wall());
    if (at) {
      expires_at = store::to_time(*at);
    } else {
      root.member("expires").fault(at.error().message());
    }
  }
  if (!faults.empty()) return std::unexpected(errors::faults(kToken, faults.all()));
  return keys;
}

Result<std::shared_ptr<const Principal>> TokenRegistry::imagine(const boost::json::value& given) const {
  store::Time expires_at{};
  const auto keys = read_keys(given, expires_at);
  if (!keys) return std::unexpected(keys.error());
  return std::make_shared<const Principal>(Principal::Parts{
      .name = keys->name, .permissions = std::make_shared<const Permissions>(permissions_of(keys->settings()))});
}

Task<Result<TokenRegistry::Issued>> TokenRegistry::do_create(boost::json::value given, std::string who) {
  // A change that has begun must complete even if its caller is cancelled, because store and table must agree. The same
  // holds for the functions below.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();
  RuntimeToken token;
  auto keys = read_keys(given, token.expires_at);
  if (!keys) co_return std::unexpected(std::move(keys.error()));
  token.keys = std::move(*keys);
  if (dependencies_.gateway.access()->principals->find_name(token.name()))
    co_return std::unexpected(errors::conflict(fmt::format("the configuration has a token {}", token.name())));
  if (find(token.name()))
    co_return std::unexpected(errors::conflict(fmt::format("there is a token {}; rotate or revoke it", token.name())));
  if (all_.get()->size() >= kMaxTokens)
    co_return std::unexpected(errors::exhausted(fmt::format("there are {} tokens, which is the limit", kMaxTokens)));
  // Ensures, whatever the clock does, that a token is younger than all earlier tokens with its name.
  last_created_ = std::max(store::to_time(dependencies_.clock.wall()), last_created_ + std::chrono::microseconds(1));
  token.created_at = last_created_;
  token.use = std::make_shared<LastUse>();
  Secret secret = random_token();
  token.principal = holder(token, json::sha256(secret.reveal()), token.expires_at);

  boost::json::object detail{{"name", token.name()}, {"access", token_access_binding().write(token.keys)}};
  if (token.expires_at != store::Time{}) detail["expires_at"] = write_date_time(token.expires_at);
  store::Writes writes;
  expect(writes, token.name(), 0);
  writes.emplace_back(write_of(token));
  writes.push_back(audit(std::move(who), "token.create", std::move(detail)));
  const auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(written.error());
  token.version = written->versions.empty() ? 0 : written->versions.front();
  removals_.erase(token.name());
  auto made = std::make_shared<const RuntimeToken>(std::move(token));
  put(made);
  co_return Issued{std::move(made), std::move(secret)};
}

Task<Result<TokenRegistry::Issued>> TokenRegistry::do_rotate(std::string name, boost::json::value given,
                                                             std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();
  const auto before = find(name);
  if (!before) co_return std::unexpected(unknown_token(name));
  if (!before->is_limited_as_stored) {
    co_return std::unexpected(errors::conflict(
        fmt::format("what the token {} may use cannot be read; revoke it and make another one", name)));
  }
  const auto now = dependencies_.clock.wall();
  RotationKeys keys;
  RuntimeToken token = *before;
  json::Faults faults;
  const json::Place root(faults);
  rotation_binding().read(given, keys, root);
  if (keys.overlap > kLongestOverlap)
    root.member("overlap").fault("must be at most " + write_duration(kLongestOverlap));
  if (!keys.expires.empty()) {
    const auto at = read_expiry(keys.expires, now);
    if (at) token.expires_at = store::to_time(*at);
    if (!at) root.member("expires").fault(at.error().message());
  }
  if (!faults.empty()) co_return std::unexpected(errors::faults(kRotation, faults.all()));
  if (token.expires_at != store::Time{} && token.expires_at <= store::to_time(now))
    co_return std::unexpected(errors::conflict(fmt::format("the token {} has expired; give it another expires", name)));

  Secret secret = random_token();
  token.fault.clear();
  token.principal = holder(token, json::sha256(secret.reveal()), token.expires_at);
  token.previous = nullptr;
  token.previous_until = {};
  if (before->principal && keys.overlap.count() > 0 && !before->principal->has_expired(now)) {
    token.previous_until = earlier(store::to_time(now + keys.overlap), token.expires_at);
    token.previous = holder(token, before->principal->token(), token.previous_until);
  }
  store::Writes writes;
  expect(writes, name, before->version);
  writes.emplace_back(write_of(token));
  writes.push_back(audit(std::move(who), "token.rotate", {{"name", name}, {"overlap", write_duration(keys.overlap)}}));
  const auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(written.error());
  token.version = written->versions.empty() ? 0 : written->versions.front();
  auto made = std::make_shared<const RuntimeToken>(std::move(token));
  put(made);
  if (before->principal && !made->previous) dependencies_.gateway.end_streams_of(*before->principal);
  if (before->previous) dependencies_.gateway.end_streams_of(*before->previous);
  co_return Issued{std::move(made), std::move(secret)};
}

Task<Result<TokenRegistry::Revoked>> TokenRegistry::do_revoke(std::string name, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();
  auto token = find(name);
  if (!token) co_return std::unexpected(unknown_token(name));
  // A full disk must not keep a token alive.
  forget(token);
  store::Writes writes;
  writes.emplace_back(store::RemoveToken{name});
  writes.push_back(audit(std::move(who), "token.revoke", {{"name", name}}));
  // Removes the token that has the name now, even if this process has not learned of it yet.
  const auto written = co_await dependencies_.store.write(writes);
  if (!written) {
    log::warning("the token {} was revoked, but the store has not recorded that yet: {}", name,
                 written.error().message());
    removals_.insert_or_assign(name, Removal{.created_at = token->created_at, .writes = std::move(writes)});
  }
  co_return Revoked{std::move(token), written.has_value()};
}

}  // namespace proteus::gateway
