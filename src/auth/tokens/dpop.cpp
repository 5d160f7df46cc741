#include "auth/tokens/dpop.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "auth/tokens/claims.hpp"
#include "auth/tokens/jwt.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/ascii.hpp"
#include "json/canonical.hpp"
#include "net/http/url.hpp"

namespace proteus::auth {
namespace {

constexpr std::size_t kMaxProofId = 512;

std::unexpected<Error> refused(std::string_view why) {
  return std::unexpected(errors::unauthenticated("the proof " + std::string(why)));
}

std::optional<std::string_view> text_in(const boost::json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string_view(value->get_string());
}

bool is_unreserved(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
}

// Returns a path with percent-encoding in its canonical form (RFC 3986, section 6.2.2): upper case, and only if needed.
std::string normal_path(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int high = path[i] == '%' && i + 2 < path.size() ? hex_value(path[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_value(path[i + 2]);
    if (low < 0) {
      out.push_back(path[i]);
      continue;
    }
    const char decoded = static_cast<char>((high * 16) + low);
    i += 2;
    if (is_unreserved(decoded)) {
      out.push_back(decoded);
    } else {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      out.push_back('%');
      out.push_back(kHex[static_cast<std::size_t>(high)]);
      out.push_back(kHex[static_cast<std::size_t>(low)]);
    }
  }
  return out;
}

// Returns the URL without query and fragment, normalized by syntax and scheme (RFC 9449, section 4.3).
std::optional<std::string> comparable(std::string_view text) {
  const auto url = net::Url::parse(text);
  if (!url) return std::nullopt;
  const std::string_view target = url->target();
  return std::string(url->origin()) + normal_path(target.substr(0, target.find('?')));
}

Result<PublicKey> key_in(const Jwt& proof) {
  const auto* jwk = proof.header().if_contains("jwk");
  if (jwk == nullptr || !jwk->is_object()) return refused("has no key");
  auto key = PublicKey::read(jwk->get_object());
  if (!key) return refused("has a key that cannot be used: " + key.error().message());
  return key;
}

Result<> check_about(const boost::json::object& claims, const ProofRules& rules) {
  if (text_in(claims, "htm") != rules.method) return refused("is for another method");
  const auto url = text_in(claims, "htu");
  const auto meant = url ? comparable(*url) : std::nullopt;
  if (!meant || meant != comparable(rules.url)) return refused("is for another URL");
  const auto hash = text_in(claims, "ath");
  if (!hash || !equal_in_constant_time(*hash, json::base64url(json::sha256(rules.token))))
    return refused("is for another token");
  if (!rules.nonce.empty() && text_in(claims, "nonce") != rules.nonce) return refused("does not have the nonce");
  return {};
}

Result<> check_age(const boost::json::object& claims, const ProofRules& rules) {
  boost::json::object time;
  if (const auto* issued = claims.if_contains("iat")) time["iat"] = *issued;
  const auto read = Claims::read(std::move(time));
  if (!read || !read->issued_at()) return refused("does not say when it was made");
  if (*read->issued_at() + rules.window < rules.now) return refused("is too old");
  if (*read->issued_at() - rules.window > rules.now) return refused("is from the future; do the clocks agree?");
  return {};
}

}  // namespace

Result<Proof> check_proof(std::string_view text, const ProofRules& rules) {
  const auto proof = Jwt::parse(text);
  if (!proof) return refused("cannot be read: " + proof.error().message());
  if (proof->type() != "dpop+jwt") return refused("is a token of another type");
  if (std::ranges::find(rules.algorithms, proof->algorithm()) == rules.algorithms.end())
    return refused("is signed with an algorithm that is not allowed");
  const auto key = key_in(*proof);
  if (!key) return std::unexpected(key.error());
  if (!equal_in_constant_time(key->thumbprint(), rules.thumbprint)) return refused("is made with another key");
  const auto& claims = proof->payload();
  if (auto about = check_about(claims, rules); !about) return std::unexpected(std::move(about.error()));
  if (auto age = check_age(claims, rules); !age) return std::unexpected(std::move(age.error()));
  const auto id = text_in(claims, "jti");
  if (!id || id->empty() || id->size() > kMaxProofId) return refused("has no id, or too long a one");
  if (!proof->is_signed_by(*key)) return refused("has a wrong signature");
  return Proof{key->thumbprint(), std::string(*id)};
}

}  // namespace proteus::auth
