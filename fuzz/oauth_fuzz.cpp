// Fuzzes everything an authorization server can send to a client (metadata, registrations, token answers, callbacks)
// and the stored form of a sign-in. Nothing that is accepted leads to an unsafe URL or to another issuer.
#include <cstdint>
#include <string>

#include "auth/oauth/run.hpp"
#include "check.hpp"
#include "client/sign_in/sign_in.hpp"

namespace {

namespace auth = proteus::auth;
namespace oauth = proteus::auth::oauth;
using proteus::Clock;
using proteus::Secret;
using proteus::fuzz::check;

constexpr Clock::Wall kNow{std::chrono::seconds(1'000'000)};
const std::string kIssuer = "https://id.example";

auth::FetchAnswer answered(std::string_view text, unsigned status = 200) {
  return {.status = status, .body = std::string(text)};
}

void check_safe(const std::string& url) {
  check(url.empty() || oauth::safe_url(url, "an endpoint"), "what is asked next is https or loopback");
}

// Answers every request of a discovery with the same text. Checks that all requests go to safe URLs and that discovery
// ends.
std::optional<oauth::Discovered> discover(std::string_view text) {
  oauth::Discovery discovery(proteus::net::Url::parse("https://mcp.example/mcp").value(), oauth::read_hints(text));
  for (int asked = 0; asked < 8; ++asked) {
    const auto request = discovery.next();
    if (!request) return std::nullopt;
    if (!*request) return std::move(discovery).outcome();
    check(oauth::is_safe((*request)->url), "only what is safe is asked");
    if (!discovery.take(answered(text))) return std::nullopt;
  }
  check(false, "discovery ends");
  return std::nullopt;
}

oauth::Discovered at_issuer(std::string_view text) {
  oauth::Discovery discovery = oauth::Discovery::of_issuer(kIssuer, "https://mcp.example/mcp");
  for (auto request = discovery.next(); request && *request; request = discovery.next()) {
    if (!discovery.take(answered(text))) return {};
  }
  if (const auto request = discovery.next(); !request) return {};
  return std::move(discovery).outcome();
}

void check_server(std::string_view text) {
  static_cast<void>(discover(text));
  const oauth::Discovered found = at_issuer(text);
  if (found.issuer().empty()) return;
  check(found.issuer() == kIssuer, "the issuer is the one asked");
  check_safe(found.server.authorization_endpoint);
  check_safe(found.server.token_endpoint);
  const auto request =
      oauth::begin_authorization(found, {.issuer = kIssuer, .id = "c"}, {.redirect_uri = "http://127.0.0.1/cb"});
  if (request) check_safe(request->url);
}

void check_answers(std::string_view text) {
  const oauth::Grant grant = oauth::client_credentials_grant("https://mcp.example/mcp", {});
  for (const unsigned status : {200U, 400U}) {
    const auto granted = oauth::read_token_answer(answered(text, status), grant, kNow);
    if (!granted) continue;
    check(status == 200, "only a success grants");
    check(!granted->access_token.empty(), "a grant has a token");
    for (const char c : granted->access_token.reveal())
      check(c > 0x20 && c < 0x7f, "a token can be sent in a field");
    check(!granted->expires || *granted->expires >= kNow, "a token ends after it began");
  }
  oauth::Discovered found;
  found.server.issuer = kIssuer;
  const auto client = oauth::read_registration(answered(text, 201), found, {.name = "P", .redirect_uris = {}}, kNow);
  if (client) check(!client->id.empty() && client->issuer == kIssuer, "a client has an id and its issuer");
}

void check_callback(std::string_view text) {
  const auto callback = oauth::read_callback(text);
  if (!callback) return;
  const oauth::AuthorizationRequest request{.url = "",
                                            .state = "s",
                                            .verifier = Secret("v"),
                                            .issuer = kIssuer,
                                            .expects_issuer = true,
                                            .client_id = "c",
                                            .redirect_uri = "",
                                            .resource = ""};
  const auto code = oauth::judge_callback(*callback, request);
  if (!code) return;
  check(callback->state == "s" && callback->issuer == kIssuer, "a code is the answer to its request");
  check(!code->empty(), "a code is not empty");
}

void check_kept(std::string_view text) {
  const auto sign_in = proteus::client::read_sign_in(text);
  if (!sign_in) return;
  const Secret written = proteus::client::write_sign_in(*sign_in);
  const auto again = proteus::client::read_sign_in(written.reveal());
  if (written.reveal().size() > proteus::client::kMaxSignIn) return;
  check(again && proteus::client::write_sign_in(*again) == written, "what is kept reads back as the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  check_server(text);
  check_answers(text);
  check_callback(text);
  check_kept(text);
  return 0;
}
