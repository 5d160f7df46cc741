// The periodic work on tokens: loading them at start-up, ending expired ones, and writing when they were last used.
#include <algorithm>
#include <cstring>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/log/log.hpp"
#include "base/text/base64.hpp"
#include "gateway/operate/token_registry.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kTokensAtOnce = 500;  // in one write
constexpr std::chrono::minutes kUsesWritten{1};
constexpr std::chrono::seconds kLongestLook{1};
constexpr std::chrono::milliseconds kShortestLook{10};

std::string write_digest(const json::Digest& digest) {
  return base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()}, Base64::url);
}

std::optional<json::Digest> digest_at(const boost::json::value& secrets, std::string_view key) {
  const auto* found = secrets.is_object() ? secrets.get_object().if_contains(key) : nullptr;
  if (found == nullptr || !found->is_string()) return std::nullopt;
  const auto bytes = base64_decode(found->get_string(), Base64::url);
  json::Digest digest{};
  if (!bytes || bytes->size() != digest.size()) return std::nullopt;
  std::memcpy(digest.data(), bytes->data(), digest.size());
  return digest;
}

}  // namespace

store::TokenRecord TokenRegistry::to_record(const RuntimeToken& token) const {
  boost::json::object secrets{{"current", write_digest(token.principal->token())}};
  if (token.previous) secrets["previous"] = write_digest(token.previous->token());
  return {.name = token.name(),
          .access = boost::json::serialize(token_access_binding().write(token.keys)),
          .secrets = boost::json::serialize(secrets),
          .created_at = token.created_at,
          .expires_at = token.expires_at,
          .previous_until = token.previous_until,
          .last_used_at = last_used(token),
          .secrets_fault = {}};
}

RuntimeToken TokenRegistry::read(const store::TokenRecord& record) {
  RuntimeToken token;
  token.keys.name = record.name;
  token.created_at = record.created_at;
  token.expires_at = record.expires_at;
  token.previous_until = record.previous_until;
  token.used_before = record.last_used_at;
  token.version = record.stored.version;
  token.use = std::make_shared<LastUse>();
  token.fault = record.secrets_fault;
  json::Faults faults;
  const auto access = json::parse(record.access);
  if (access) token_access_binding().read(*access, token.keys, json::Place(faults));
  token.is_limited_as_stored = access && faults.empty();
  if (!token.fault.empty()) return token;
  const auto secrets = json::parse(record.secrets);
  const auto current = secrets ? digest_at(*secrets, "current") : std::nullopt;
  if (!token.is_limited_as_stored) token.fault = "what it may use cannot be read";
  if (!current) token.fault = "its hash cannot be read";
  if (!token.fault.empty()) return token;
  token.principal = holder(token, *current, token.expires_at);
  const auto previous = digest_at(*secrets, "previous");
  if (previous) token.previous = holder(token, *previous, token.previous_until);
  return token;
}

Task<Result<>> TokenRegistry::load() {
  const auto records = co_await dependencies_.store.tokens();
  if (!records) co_return std::unexpected(records.error());
  RuntimeTokens tokens;
  for (const auto& record : *records) {
    auto token = std::make_shared<const RuntimeToken>(read(record));
    if (!token->fault.empty()) log::warning("the token {} is not served: {}", record.name, token->fault);
    last_created_ = std::max(last_created_, record.created_at);
    tokens.emplace(record.name, std::move(token));
  }
  written_until_ = dependencies_.clock.now();
  publish(std::move(tokens));
  co_return Result<>{};
}

void TokenRegistry::start() { background_.spawn("tokens", look_over_now_and_then()); }

Task<> TokenRegistry::look_over_now_and_then() {
  while (!stopped_) {
    const auto next = dependencies_.gateway.next_expiry();
    const auto wait =
        next ? std::clamp<Clock::Wall::duration>(*next - dependencies_.clock.wall(), kShortestLook, kLongestLook)
             : Clock::Wall::duration(kLongestLook);
    timer_.expires_after(wait);
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!stopped_) co_await do_look_over();
  }
}

Task<> TokenRegistry::look_over() {
  co_await asio::co_spawn(dependencies_.control, do_look_over(), asio::use_awaitable);
}

Task<> TokenRegistry::do_look_over() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  dependencies_.gateway.end_expired();
  co_await write_removals();
  if (dependencies_.clock.now() - written_until_ >= kUsesWritten) co_await write_uses();
}

Task<> TokenRegistry::write_removals() {
  if (removals_.empty()) co_return;
  const auto turn = co_await one_at_a_time_.take();
  while (!removals_.empty()) {
    const std::string name = removals_.begin()->first;
    if (const auto written = co_await write_removal(name, removals_.begin()->second); !written) co_return;
    removals_.erase(name);
    log::info("the store has recorded that the token {} was revoked", name);
  }
}

Task<> TokenRegistry::write_uses() {
  const auto now = dependencies_.clock.now();
  store::Writes writes;
  const auto all = all_.get();
  for (auto next = all->begin(); next != all->end();) {
    const auto& [name, token] = *next++;
    if (const auto used = token->use->at(); used && *used >= written_until_)
      writes.emplace_back(store::TouchToken{name, last_used(*token)});
    if (writes.empty() || (writes.size() < kTokensAtOnce && next != all->end())) continue;
    if (const auto written = co_await dependencies_.store.write(std::exchange(writes, {})); !written) {
      log::warning("when tokens were used is not kept: {}", written.error().message());
      co_return;
    }
  }
  written_until_ = now;
}

Task<> TokenRegistry::stop() {
  stopped_ = true;
  timer_.cancel();
  co_await background_.join();
  co_await write_uses();
}

}  // namespace proteus::gateway
