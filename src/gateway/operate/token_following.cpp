// Applies changes that other processes made: tokens that they created, rotated or revoked.
#include <algorithm>
#include <iterator>
#include <set>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "gateway/operate/token_registry.hpp"
#include "json/canonical.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

bool has_secret_of(const Principal& principal, const std::shared_ptr<const Principal>& other) {
  return other && other->token() == principal.token();
}

}  // namespace

void TokenRegistry::expect(store::Writes& writes, const std::string& name, std::uint64_t version) const {
  if (dependencies_.shared) writes.emplace_back(store::Expect{{store::RecordKind::token, name, {}}, version});
}

store::PutToken TokenRegistry::write_of(const RuntimeToken& token) const {
  store::PutToken put{to_record(token)};
  if (!dependencies_.shared) return put;
  for (const auto& principal : {token.principal, token.previous}) {
    if (principal) put.hashes.push_back(json::hex(principal->token()));
  }
  return put;
}

void TokenRegistry::forget(const RuntimeTokenPointer& token) {
  RuntimeTokens next = *all_.get();
  next.erase(token->name());
  publish(std::move(next));
  for (const auto& principal : {token->principal, token->previous}) {
    if (principal) principal->withdraw();
  }
  dependencies_.gateway.end_callers({token->key()}, "the token was revoked");
}

void TokenRegistry::take_over(RuntimeTokenPointer token) {
  const auto before = find(token->name());
  // Another token has the name now, so the principal of the old one no longer exists.
  if (before && before->key() != token->key()) forget(before);
  put(token);
  if (!before || before->key() != token->key()) return;
  for (const auto& principal : {before->principal, before->previous}) {
    if (principal && !has_secret_of(*principal, token->principal) && !has_secret_of(*principal, token->previous))
      dependencies_.gateway.end_streams_of(*principal);
  }
}

Task<Result<>> TokenRegistry::follow(std::string name) {
  co_return co_await asio::co_spawn(dependencies_.control, do_follow(std::move(name)), asio::use_awaitable);
}

Task<Result<>> TokenRegistry::do_follow(std::string name) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();
  const auto record = co_await dependencies_.store.token(name);
  if (!record) co_return std::unexpected(record.error());
  const auto before = find(name);
  if (!*record) {
    if (before) forget(before);
    co_return Result<>{};
  }
  if (before && before->version == (*record)->stored.version) co_return Result<>{};
  const auto revoked = removals_.find(name);
  if (revoked != removals_.end() && revoked->second.created_at == (*record)->created_at) co_return Result<>{};
  RuntimeToken token = read(**record);
  if (!token.fault.empty()) log::warning("the token {} is not served: {}", name, token.fault);
  if (before && before->key() == token.key()) token.use = before->use;
  last_created_ = std::max(last_created_, token.created_at);
  take_over(std::make_shared<const RuntimeToken>(std::move(token)));
  co_return Result<>{};
}

Task<Result<>> TokenRegistry::write_removal(std::string name, Removal removal) {
  for (;;) {
    store::Writes writes;
    if (dependencies_.shared) {
      const auto record = co_await dependencies_.store.token(name);
      if (!record) co_return std::unexpected(record.error());
      if (!*record || (*record)->created_at != removal.created_at) co_return Result<>{};
      expect(writes, name, (*record)->stored.version);
    }
    std::ranges::copy(removal.writes, std::back_inserter(writes));
    const auto written = co_await dependencies_.store.write(std::move(writes));
    if (written) co_return Result<>{};
    // A rotation that another process made meanwhile has no effect: the token is revoked all the same.
    if (!dependencies_.shared || written.error().kind() != ErrorKind::conflict)
      co_return std::unexpected(written.error());
  }
}

Task<Result<>> TokenRegistry::follow_all() {
  const auto records = co_await dependencies_.store.tokens();
  if (!records) co_return std::unexpected(records.error());
  std::set<std::string> names;
  for (const auto& record : *records)
    names.insert(record.name);
  for (const auto& [name, token] : *all_.get())
    names.insert(name);
  for (const auto& name : names) {
    if (auto followed = co_await follow(name); !followed) co_return followed;
  }
  co_return Result<>{};
}

void TokenRegistry::set_blind(bool blind) {
  blind_ = blind;
  publish(*all_.get());
}

}  // namespace proteus::gateway
