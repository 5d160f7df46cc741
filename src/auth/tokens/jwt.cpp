#include "auth/tokens/jwt.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "base/text/base64.hpp"
#include "json/text.hpp"

namespace proteus::auth {
namespace {

constexpr std::size_t kMaxKeyId = 1024;

using Parts = std::array<std::string_view, 3>;

std::optional<Parts> split(std::string_view text) {
  const std::size_t first = text.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  return Parts{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

Result<boost::json::object> read_part(std::string_view part, std::string_view what) {
  const auto bytes = base64_decode(part, Base64::url);
  if (!bytes) return std::unexpected(errors::invalid(fmt::format("the {} of the token is not base64url", what)));
  auto value = json::parse(*bytes, Jwt::kMaxDepth);
  if (!value || !value->is_object()) {
    return std::unexpected(errors::invalid(
        fmt::format("the {} of the token is not a JSON object, is too deep, or has a key twice", what)));
  }
  return std::move(value->get_object());
}

// Returns the media type in lower case, without "application/", which may be left out (RFC 7515, section 4.1.9).
std::string type_name(std::string_view type) {
  std::string name = lower_case(type);
  constexpr std::string_view kPrefix = "application/";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  return name;
}

bool is_for(const boost::json::object& claims, const boost::json::value& audience) {
  const auto* const all = claims.if_contains("aud");
  if (all == nullptr) return false;
  if (!all->is_array()) return *all == audience;
  return std::ranges::find(all->get_array(), audience) != all->get_array().end();
}

Result<> read_header_text(const boost::json::object& header, std::string_view name, std::string& onto) {
  const auto* value = header.if_contains(name);
  if (value == nullptr) return {};
  if (!value->is_string() || value->get_string().size() > kMaxKeyId)
    return std::unexpected(errors::invalid(fmt::format("{} in the token's header is no text of at most 1 KiB", name)));
  onto = value->get_string();
  return {};
}

}  // namespace

bool Jwt::is_meant(std::string_view text) {
  const auto parts = split(text);
  if (!parts || text.size() > kMaxBytes) return false;
  const auto header = base64_decode((*parts)[0], Base64::url);
  return header && header->starts_with('{');
}

std::string Jwt::claimed_issuer(std::string_view text) {
  const auto parts = split(text);
  const auto payload = parts ? read_part((*parts)[1], "payload") : Result<boost::json::object>();
  if (!payload) return {};
  const auto* issuer = payload->if_contains("iss");
  return issuer == nullptr || !issuer->is_string() ? std::string() : std::string(issuer->get_string());
}

Result<Jwt> Jwt::parse(std::string_view text) {
  if (text.size() > kMaxBytes) return std::unexpected(errors::too_large("a token", kMaxBytes));
  const auto parts = split(text);
  if (!parts) return std::unexpected(errors::invalid("the token does not have three parts"));
  Jwt token;
  auto header = read_part((*parts)[0], "header");
  if (!header) return std::unexpected(std::move(header.error()));
  token.header_ = std::move(*header);
  if (auto read = token.read_header(); !read) return std::unexpected(std::move(read.error()));
  auto payload = read_part((*parts)[1], "payload");
  if (!payload) return std::unexpected(std::move(payload.error()));
  token.payload_ = std::move(*payload);
  auto signature = base64_decode((*parts)[2], Base64::url);
  if (!signature || signature->empty())
    return std::unexpected(errors::invalid("the signature of the token is missing, or not base64url"));
  token.signature_ = std::move(*signature);
  token.signed_text_ = text.substr(0, (*parts)[0].size() + 1 + (*parts)[1].size());
  return token;
}

Result<> Jwt::read_header() {
  // RFC 7515, section 4.1.11: a critical extension that is not understood makes the token invalid. `b64` (RFC 7797)
  // would change what is signed.
  if (header_.contains("crit") || header_.contains("b64"))
    return std::unexpected(errors::invalid("the token has critical extensions, of which none is understood"));
  std::string name;
  if (auto read = read_header_text(header_, "alg", name); !read) return read;
  const auto algorithm = algorithm_of(name);
  if (!algorithm)
    return std::unexpected(errors::invalid("the token is unsigned, or its algorithm is not one of those accepted"));
  algorithm_ = *algorithm;
  if (auto read = read_header_text(header_, "kid", key_id_); !read) return read;
  std::string type;
  if (auto read = read_header_text(header_, "typ", type); !read) return read;
  type_ = type_name(type);
  return {};
}

Result<> check_signature(const Jwt& token, const KeySet& keys, std::span<const Algorithm> allowed) {
  if (std::ranges::find(allowed, token.algorithm()) == allowed.end()) {
    return std::unexpected(errors::unauthenticated(fmt::format(
        "the token is signed with {}, which the issuer's settings do not allow", to_string(token.algorithm()))));
  }
  const auto candidates = keys.find(token.key_id(), token.algorithm());
  if (std::ranges::any_of(candidates, [&](const IssuerKey* one) { return token.is_signed_by(one->key); })) return {};
  if (candidates.empty() || token.key_id().empty())
    return std::unexpected(errors::not_found("no known key of the issuer has signed the token"));
  return std::unexpected(errors::unauthenticated("the signature of the token is wrong"));
}

Result<> check_is_access_token(const Jwt& token) {
  if (token.type() == "at+jwt") return {};
  if (!token.type().empty() && token.type() != "jwt")
    return std::unexpected(errors::unauthenticated("the token's type says that it is no access token"));
  const auto& claims = token.payload();
  // Keycloak states the kind of a token in a claim.
  if (const auto* kind = claims.if_contains("typ"); kind != nullptr && kind->is_string()) {
    if (kind->get_string() != "Bearer" && kind->get_string() != "DPoP" && type_name(kind->get_string()) != "at+jwt")
      return std::unexpected(errors::unauthenticated("the token says that it is no access token"));
    return {};
  }
  const bool is_for_client = claims.contains("nonce") && !claims.contains("scope") && !claims.contains("scp");
  if (is_for_client || claims.contains("at_hash") || claims.contains("c_hash") || claims.contains("s_hash"))
    return std::unexpected(errors::unauthenticated("the token is an ID token, not an access token"));
  // A minimal ID token only says who, for whom and when; an access token also names a client or what it allows.
  constexpr std::array kOfAccess = {"scope", "scp", "client_id", "cid", "appid", "roles", "permissions"};
  if (std::ranges::none_of(kOfAccess, [&](std::string_view claim) { return claims.contains(claim); })) {
    const auto* const client = claims.if_contains("azp");
    if (client == nullptr)
      return std::unexpected(errors::unauthenticated("the token is of no type, and has neither a scope nor a client"));
    // OpenID Connect Core, section 2: ID tokens are for the client itself, and may also name it in `azp`.
    if (is_for(claims, *client))
      return std::unexpected(errors::unauthenticated("the token is an ID token, not an access token"));
  }
  // OpenID Connect Back-Channel Logout, section 2.4; RFC 8417, section 2.2
  if (claims.contains("events") || claims.contains("sub_id"))
    return std::unexpected(errors::unauthenticated("the token reports an event and is no access token"));
  return {};
}

}  // namespace proteus::auth
