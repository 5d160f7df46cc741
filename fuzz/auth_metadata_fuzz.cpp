// Fuzzes the readers of issuer metadata, resource metadata and challenges. Resource metadata and challenges that are
// read must survive being written and read again.
#include <cstdint>
#include <string>

#include "auth/tokens/challenge.hpp"
#include "auth/tokens/metadata.hpp"
#include "auth/tokens/resource_metadata.hpp"
#include "check.hpp"
#include "net/http/url.hpp"

namespace {

namespace auth = proteus::auth;
using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;

void check_server(std::string_view text) {
  const auto metadata = auth::read_server_metadata(text, "https://id.example");
  if (!metadata) return;
  check(boost_opinion(text).value.has_value(), "what is read is JSON for others");
  check(metadata->issuer == "https://id.example", "the issuer is the one asked");
  for (const std::string& url : {metadata->jwks_uri, metadata->token_endpoint, metadata->introspection_endpoint}) {
    if (url.empty()) continue;
    const auto parsed = proteus::net::Url::parse(url);
    check(parsed && parsed->is_https(), "an endpoint can be asked, and in private");
  }
}

void check_resource(std::string_view text) {
  const auto metadata = auth::read_resource_metadata(text);
  if (!metadata) return;
  const std::string written = auth::write_resource_metadata(*metadata);
  const auto again = auth::read_resource_metadata(written);
  if (written.size() > auth::ResourceMetadata::kMaxBytes) return;  // escapes can exceed the limit
  check(again && auth::write_resource_metadata(*again) == written, "what is written reads back as the same");
}

void check_challenges(std::string_view text) {
  for (const auto& challenge : auth::read_challenges(text)) {
    check(!challenge.scheme.empty(), "a challenge has a scheme");
    const std::string scope(challenge.find("scope"));
    const std::string written = auth::write_challenge({.error = challenge.find("error"), .scopes = {&scope, 1}});
    check(written.starts_with("Bearer"), "a challenge begins with Bearer");
    const auto again = auth::read_challenges(written);
    check(written.size() > auth::kMaxChallengeBytes || again.size() == 1, "what is written is one challenge");
    for (const char c : written)
      check(c >= 0x20 && c < 0x7f, "a challenge is visible ASCII");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  check_server(text);
  check_resource(text);
  check_challenges(text);
  return 0;
}
