#include "gateway/callers/principal.hpp"

#include <algorithm>
#include <cstring>

namespace proteus::gateway {
namespace {

// Of anybody's token: a connection keeps no more.
constexpr std::size_t kLongestKept = 1024;

// The token of "Bearer x"; the scheme is compared without regard to case (RFC 9110, 11.1).
std::string_view bearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return {};
  const bool same = std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  });
  if (!same) return {};
  std::string_view token = authorization.substr(kScheme.size());
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  return token;
}

}  // namespace

Principal::Principal(Parts parts) : parts_(std::move(parts)) {
  if (parts_.key.empty()) parts_.key = parts_.name;
}

bool Principal::same_as(const Principal& other) const {
  return name() == other.name() && token() == other.token() && access().fingerprint() == other.access().fingerprint() &&
         entry() == other.entry();
}

const json::Digest& TokenHash::of(std::string_view token) {
  // A proxy may send the requests of many over one connection: none is to learn another's token from the time it takes.
  if (token_.empty() || !equal_in_constant_time(token_.reveal(), token)) {
    token_ = {};
    digest_ = json::sha256(token);
    if (token.size() <= kLongestKept) token_ = Secret(std::string(token));
  }
  return digest_;
}

TokenHash& TokenHash::on_connection_of(const net::Request& request) {
  auto& note = request.note();
  if (!note) note = std::make_unique<TokenHash>();
  return static_cast<TokenHash&>(*note);
}

std::size_t Principals::DigestHash::operator()(const json::Digest& digest) const {
  std::size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

Principals::Principals(const std::vector<PrincipalSettings>& settings, Anonymous anonymous,
                       const Principals* previous) {
  const PermissionsTable* const before = previous != nullptr ? &previous->permissions_ : nullptr;
  for (const auto& each : settings) {
    const json::Digest token = json::sha256(each.token.reveal());
    auto permissions = permissions_.add(
        {catalog::Access::only(each.upstreams, each.entries), each.contexts, each.requests_per_minute}, before);
    are_alike_ = are_alike_ && permissions->access().is_all();
    by_token_.emplace(token, std::make_shared<const Principal>(Principal::Parts{
                                 .name = each.name, .permissions = std::move(permissions), .token = token}));
  }
  if (anonymous == Anonymous::refused) return;
  anonymous_ = std::make_shared<const Principal>(
      Principal::Parts{.name = {}, .permissions = permissions_.add({catalog::Access::all(), {"*"}}, before)});
}

void Principals::look_at(const catalog::SnapshotPointer& snapshot) const { permissions_.look_at(snapshot); }

bool Principals::keeps(const Principal& principal) const {
  if (anonymous_ && anonymous_->same_as(principal)) return true;
  const auto found = by_token_.find(principal.token());
  return found != by_token_.end() && found->second->same_as(principal);
}

Result<std::shared_ptr<const Principal>> Principals::find(std::string_view authorization) const {
  TokenHash hash;
  return find(authorization, hash, {});
}

Result<std::shared_ptr<const Principal>> Principals::find(const net::Request& request, const FindMore& more) const {
  return find(request.fields().find("Authorization").value_or(""), TokenHash::on_connection_of(request), more);
}

Result<std::shared_ptr<const Principal>> Principals::find(std::string_view authorization, TokenHash& hash,
                                                          const FindMore& more) const {
  if (authorization.empty()) {
    if (anonymous_) return anonymous_;
    return std::unexpected(errors::unauthenticated("A bearer token is required"));
  }
  const std::string_view token = bearer(authorization);
  if (!token.empty()) {
    const json::Digest& digest = hash.of(token);
    const auto found = by_token_.find(digest);
    if (found != by_token_.end()) return found->second;
    if (auto known = more ? more(digest) : nullptr) return known;
  }
  return std::unexpected(errors::unauthenticated("The bearer token is unknown"));
}

}  // namespace proteus::gateway
