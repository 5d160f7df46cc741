#include "gateway/operate/try_tokens.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "gateway/callers/audit_entry.hpp"

namespace proteus::gateway {

TryTokens::TryTokens(Gateway& gateway, store::Store& store) : gateway_(gateway), store_(store) {
  gateway_.add_find_principal([this](const json::Digest& token) { return find(token); });
}

std::shared_ptr<const Principal> TryTokens::find(const json::Digest& token) const {
  const auto table = table_.get();
  const auto found = table->find(token);
  return found == table->end() ? nullptr : found->second;
}

Result<> TryTokens::put(std::shared_ptr<const Principal> principal) {
  const std::scoped_lock lock(changing_);
  Table next = *table_.get();
  if (next.size() >= kMost)
    return std::unexpected(errors::exhausted(fmt::format("{} tokens to try with are in use; they end soon", kMost)));
  const json::Digest token = principal->token();
  next.emplace(token, std::move(principal));
  table_.set(std::make_shared<const Table>(std::move(next)));
  return {};
}

Task<Result<TryTokens::Issued>> TryTokens::issue(Whom whom, std::string who) {
  const auto as = find_whom(gateway_, whom);
  if (!as) co_return std::unexpected(as.error());
  const Principal& like = **as;
  const auto until = gateway_.clock().wall() + kLifetime;
  Secret secret("proteus_try_" + base64_encode(random_bytes(24), Base64::url));
  auto principal = std::make_shared<const Principal>(Principal::Parts{
      .name = fmt::format("{} tries as {}", who, like.name().empty() ? "anybody" : like.name()),
      .permissions = std::shared_ptr<const Permissions>(*as, &like.permissions()),
      // A separate key, so that nothing that is kept for the principal is found.
      .key = "try:" + base64_encode(random_bytes(12), Base64::url),
      .token = json::sha256(secret.reveal()),
      .scopes = like.scopes() == nullptr ? nullptr : std::shared_ptr<const catalog::GrantedScopes>(*as, like.scopes()),
      .home = like.home(),
      .expires = until});
  boost::json::object detail{{"as", whom ? boost::json::value(*whom) : boost::json::value(nullptr)},
                             {"expires_at", write_date_time(until)}};
  store::Writes writes;
  writes.emplace_back(audit_entry(gateway_.clock(), std::move(who), "token.try", detail));
  if (const auto written = co_await store_.write(std::move(writes)); !written)
    co_return std::unexpected(written.error());
  if (auto taken = put(principal); !taken) co_return std::unexpected(std::move(taken.error()));
  co_return Issued{std::move(secret), std::move(principal)};
}

void TryTokens::end_expired(Clock::Wall now) {
  std::unordered_set<std::string> keys;
  {
    const std::scoped_lock lock(changing_);
    Table next = *table_.get();
    std::erase_if(next, [&](const auto& entry) {
      if (!entry.second->has_expired(now)) return false;
      entry.second->withdraw();
      keys.insert(entry.second->key());
      return true;
    });
    if (keys.empty()) return;
    table_.set(std::make_shared<const Table>(std::move(next)));
  }
  gateway_.end_callers(keys, "the token to try with has expired");
}

}  // namespace proteus::gateway
