#include "gateway/callers/principal.hpp"

#include <algorithm>
#include <cstring>

namespace proteus::gateway {
namespace {

// Longest token that a connection keeps before the token is known to be good.
constexpr std::size_t kLongestKept = 1024;

// `former` is the principal of the same token until now; null for none.
std::shared_ptr<const Principal> make_principal(const Principal::Parts& parts, const Principal* former) {
  auto made = std::make_shared<const Principal>(parts);
  if (former == nullptr || !former->holds() || !former->same_as(*made)) return made;
  return std::make_shared<const Principal>(parts, former);
}

}  // namespace

Principal::Principal(Parts parts, const Grant* continued) : Grant(continued), parts_(std::move(parts)) {
  if (parts_.key.empty()) parts_.key = parts_.name;
  // No other key begins with a line feed.
  lasting_key_ = is_configured() && !name().empty() ? "\n" + json::hex(token()) : key();
}

Permissions permissions_of(const PrincipalSettings& settings) {
  return {catalog::Access::only(settings.upstreams, settings.entries), settings.contexts, settings.requests_per_minute,
          settings.disclosure};
}

bool Principal::same_as(const Principal& other) const {
  return name() == other.name() && token() == other.token() && expires() == other.expires() &&
         access().fingerprint() == other.access().fingerprint() && entry() == other.entry() &&
         permissions().disclosure() == other.permissions().disclosure();
}

const json::Digest& TokenHash::of(std::string_view token, std::uint64_t number) {
  if (number == number_ && number != 0) return digest_;
  number_ = number;
  // A proxy may send the requests of many callers over one connection: timing must not reveal another caller's token.
  if (token_.empty() || !equal_in_constant_time(token_.reveal(), token)) {
    token_ = {};
    digest_ = json::sha256(token);
    if (token.size() <= kLongestKept) token_ = Secret(std::string(token));
  }
  return digest_;
}

void TokenHash::keep(std::string_view token) {
  if (token_.empty()) token_ = Secret(std::string(token));
}

TokenHash& TokenHash::on_connection_of(const net::Request& request) {
  auto& note = request.note();
  if (!note) note = std::make_unique<TokenHash>();
  return static_cast<TokenHash&>(*note);
}

std::size_t DigestHash::operator()(const json::Digest& digest) const {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

Principals::Principals(const std::vector<PrincipalSettings>& settings, Anonymous anonymous,
                       const Principals* previous) {
  const PermissionsTable* const before = previous != nullptr ? &previous->permissions_ : nullptr;
  for (const auto& each : settings) {
    const json::Digest token = json::sha256(each.token.reveal());
    auto permissions = permissions_.add(permissions_of(each), before);
    are_alike_ = are_alike_ && permissions->show_all();
    const auto former = previous != nullptr ? previous->find(token) : nullptr;
    auto principal = make_principal(
        {.name = each.name, .permissions = std::move(permissions), .token = token, .expires = each.expires},
        former.get());
    if (each.expires) expiring_.push_back(principal);
    by_token_.emplace(token, std::move(principal));
  }
  if (anonymous == Anonymous::refused) return;
  anonymous_ = make_principal({.name = {}, .permissions = permissions_.add({catalog::Access::all(), {"*"}}, before)},
                              previous != nullptr ? previous->anonymous_.get() : nullptr);
}

void Principals::look_at(const catalog::SnapshotPointer& snapshot) const { permissions_.look_at(snapshot); }
std::vector<std::shared_ptr<const Principal>> Principals::all() const {
  std::vector<std::shared_ptr<const Principal>> all;
  all.reserve(by_token_.size());
  for (const auto& [token, principal] : by_token_)
    all.push_back(principal);
  std::ranges::sort(all, {}, [](const auto& principal) -> const std::string& { return principal->name(); });
  return all;
}

std::shared_ptr<const Principal> Principals::find_name(std::string_view name) const {
  const auto found = std::ranges::find_if(by_token_, [&](const auto& entry) { return entry.second->name() == name; });
  return found == by_token_.end() ? nullptr : found->second;
}

bool Principals::keeps(const Principal& principal) const {
  if (anonymous_ && anonymous_->same_as(principal)) return true;
  const auto found = by_token_.find(principal.token());
  return found != by_token_.end() && found->second->same_as(principal);
}

std::unordered_set<std::string> Principals::withdraw_unless_kept_by(const Principals& others) const {
  std::unordered_set<std::string> keys;
  const auto withdraw_unless_kept = [&](const std::shared_ptr<const Principal>& principal) {
    if (!principal || others.keeps(*principal)) return;
    principal->withdraw();
    keys.insert(principal->key());
  };
  for (const auto& [token, principal] : by_token_)
    withdraw_unless_kept(principal);
  withdraw_unless_kept(anonymous_);
  return keys;
}

std::shared_ptr<const Principal> Principals::find(const json::Digest& token) const {
  const auto found = by_token_.find(token);
  return found == by_token_.end() ? nullptr : found->second;
}

}  // namespace proteus::gateway
