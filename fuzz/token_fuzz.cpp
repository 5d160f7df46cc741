// Fuzzes the reader of JWTs: a token signed by an unknown key is never accepted, and Boost's parser agrees on what is
// read. The input is tried as a token and, split at its first line break, as a header and claims.
#include <cstdint>
#include <string>

#include "auth/tokens/jwt.hpp"
#include "base/text/base64.hpp"
#include "check.hpp"

namespace {

namespace auth = proteus::auth;
using proteus::Base64;
using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;

// RFC 8037, A.2
const auth::KeySet& keys() {
  static const auth::KeySet set =
      auth::KeySet::parse(
          R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})")
          .value();
  return set;
}

void check_object(std::string_view part, const boost::json::object& read) {
  const auto bytes = proteus::base64_decode(part, Base64::url);
  check(bytes.has_value(), "what is read is base64url");
  const auto opinion = boost_opinion(*bytes);
  check(opinion.value && opinion.value->is_object(), "what is read is an object for others");
  check(opinion.value->get_object().size() == read.size(), "others see as many members");
}

void check_claims(const boost::json::object& payload) {
  const auto claims = auth::Claims::read(payload);
  if (!claims) return;
  for (const auto& member : payload) {
    const auto values = claims->values(member.key());
    check(values.size() <= auth::Claims::kMaxValues, "values are bounded");
  }
  for (const auto& scope : claims->scopes())
    check(!scope.empty(), "a scope is not empty");
  const auto now = proteus::Clock::Wall(std::chrono::hours(500'000));
  const bool sound = auth::check_claims(*claims, "https://id.example", now, std::chrono::seconds(30)).has_value();
  check(!sound || (claims->issuer() == "https://id.example" && claims->expires()), "a sound token has issuer and end");
}

void check_token(std::string_view text) {
  const auto token = auth::Jwt::parse(text);
  if (!token) return;
  check(auth::Jwt::is_meant(text), "what is read as a token is meant as one");
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  check_object(text.substr(0, first), token->header());
  check_object(text.substr(first + 1, second - first - 1), token->payload());
  check(!token->header().contains("crit"), "critical extensions are refused");
  check(!auth::check_signature(*token, keys(), auth::kAlgorithms), "what nobody has signed is refused");
  static_cast<void>(auth::check_is_access_token(*token));
  check_claims(token->payload());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  check_token(text);
  if (const std::size_t line = text.find('\n'); line != std::string_view::npos) {
    check_token(proteus::base64_encode(text.substr(0, line), Base64::url) + "." +
                proteus::base64_encode(text.substr(line + 1), Base64::url) + "." +
                proteus::base64_encode(std::string(64, 's'), Base64::url));
  }
  return 0;
}
