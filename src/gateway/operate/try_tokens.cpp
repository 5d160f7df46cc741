#include "gateway/operate/try_tokens.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/text/base64.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kPrefix = "proteus_try_";
constexpr std::string_view kBound = "token to try with 1";
constexpr std::size_t kLongestWhom = 4096;  // because the token is part of a request's head
constexpr std::size_t kLongestToken = 16'384;

}  // namespace

// What a token says. Any process that shares the pepper reads it.
struct TryTokens::Content {
  Whom whom;
  std::string who;
  std::string key;
  Clock::Wall until;

  std::string write() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until.time_since_epoch()).count();
    return boost::json::serialize(
        boost::json::object{{"as", whom ? boost::json::value(*whom) : boost::json::value(nullptr)},
                            {"who", who},
                            {"key", key},
                            {"until", seconds}});
  }
  // `text` was sealed, so it is valid.
  static Content read(std::string_view text) {
    const boost::json::value parsed = json::parse(text).value();
    const auto& as = parsed.at("as");
    return {.whom = as.is_null() ? Whom() : Whom(as.as_string().c_str()),
            .who = parsed.at("who").as_string().c_str(),
            .key = parsed.at("key").as_string().c_str(),
            .until = Clock::Wall(std::chrono::seconds(parsed.at("until").as_int64()))};
  }
};

TryTokens::TryTokens(Gateway& gateway, store::Store& store, SealingKey key)
    : gateway_(gateway), store_(store), key_(key) {
  gateway_.add_find_principal([this](std::string_view token, const json::Digest& hash) { return find(token, hash); });
}

TryTokens::PrincipalPointer TryTokens::find(std::string_view token, const json::Digest& hash) {
  if (!token.starts_with(kPrefix) || token.size() > kLongestToken) return nullptr;
  const auto table = table_.get();
  if (const auto found = table->find(hash); found != table->end()) return found->second;
  // Another process may have issued it.
  const auto sealed = base64_decode(token.substr(kPrefix.size()), Base64::url);
  const auto plain = sealed ? key_.open(*sealed, kBound) : std::nullopt;
  if (!plain) return nullptr;
  const Content content = Content::read(*plain);
  if (content.until <= gateway_.clock().wall()) return nullptr;
  auto principal = make_principal(content, hash);
  if (!principal) return nullptr;
  return put(std::move(*principal)).value_or(nullptr);
}

Result<TryTokens::PrincipalPointer> TryTokens::make_principal(const Content& content, const json::Digest& hash) const {
  const auto as = find_whom(gateway_, content.whom);
  if (!as) return std::unexpected(as.error());
  const Principal& like = **as;
  return std::make_shared<const Principal>(Principal::Parts{
      .name = fmt::format("{} tries as {}", content.who, like.name().empty() ? "anybody" : like.name()),
      .permissions = std::shared_ptr<const Permissions>(*as, &like.permissions()),
      // A separate key, so that nothing that is kept for the principal is found.
      .key = content.key,
      .token = hash,
      .scopes = like.scopes() == nullptr ? nullptr : std::shared_ptr<const catalog::GrantedScopes>(*as, like.scopes()),
      .home = like.home(),
      .expires = content.until});
}

Result<TryTokens::PrincipalPointer> TryTokens::put(PrincipalPointer principal) {
  const std::scoped_lock lock(changing_);
  Table next = *table_.get();
  if (const auto found = next.find(principal->token()); found != next.end()) return found->second;
  if (next.size() >= kMost)
    return std::unexpected(errors::exhausted(fmt::format("{} tokens to try with are in use; they end soon", kMost)));
  next.emplace(principal->token(), principal);
  table_.set(std::make_shared<const Table>(std::move(next)));
  return principal;
}

Task<Result<TryTokens::Issued>> TryTokens::issue(Whom whom, std::string who) {
  if (whom && whom->size() > kLongestWhom)
    co_return std::unexpected(errors::invalid(fmt::format("claims to try with have at most {} bytes", kLongestWhom)));
  const auto until = std::chrono::floor<std::chrono::seconds>(gateway_.clock().wall() + kLifetime);
  const Content content{.whom = std::move(whom),
                        .who = std::move(who),
                        .key = "try:" + base64_encode(random_bytes(12), Base64::url),
                        .until = until};
  Secret secret(std::string(kPrefix) + base64_encode(key_.seal(content.write(), kBound), Base64::url));
  auto principal = make_principal(content, json::sha256(secret.reveal()));
  if (!principal) co_return std::unexpected(std::move(principal.error()));
  boost::json::object detail{{"as", content.whom ? boost::json::value(*content.whom) : boost::json::value(nullptr)},
                             {"expires_at", write_date_time(until)}};
  store::Writes writes;
  writes.emplace_back(audit_entry(gateway_.clock(), content.who, "token.try", detail));
  if (const auto written = co_await store_.write(std::move(writes)); !written)
    co_return std::unexpected(written.error());
  if (auto taken = put(*principal); !taken) co_return std::unexpected(std::move(taken.error()));
  co_return Issued{std::move(secret), std::move(*principal)};
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
