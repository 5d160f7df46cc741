#include "auth/oauth/token_request.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "auth/oauth/client_proof.hpp"
#include "auth/oauth/server_error.hpp"
#include "json/text.hpp"
#include "net/http/fields.hpp"

namespace proteus::auth::oauth {
namespace {

constexpr std::chrono::hours kLongestToken{24 * 365};

std::unexpected<Error> bad_answer(std::string_view why) {
  return std::unexpected(errors::protocol("the answer to a token request " + std::string(why)));
}

// Returns a member that is a text; empty if it is absent or null.
Result<std::string> text_member(const boost::json::object& answer, std::string_view name) {
  const auto* value = answer.if_contains(name);
  if (value == nullptr || value->is_null()) return std::string();
  const auto* text = value->if_string();
  if (text == nullptr || text->size() > kMaxToken) return bad_answer("has a member of the wrong type or size");
  return std::string(*text);
}

// Returns whether a token can be sent in a header field (RFC 6750, section 2.1).
bool is_sendable(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
}

Result<Secret> token_member(const boost::json::object& answer, std::string_view name) {
  auto text = text_member(answer, name);
  if (!text) return std::unexpected(std::move(text.error()));
  if (!is_sendable(*text)) return bad_answer("has a token that cannot be sent");
  return Secret(std::move(*text));
}

// Reads `expires_in`, a number of seconds, which some servers write as text.
Result<std::optional<Clock::Wall>> end_of(const boost::json::object& answer, Clock::Wall now) {
  const auto* value = answer.if_contains("expires_in");
  if (value == nullptr || value->is_null()) return std::nullopt;
  double seconds = -1;
  if (value->is_number()) seconds = value->to_number<double>();
  if (const auto* text = value->if_string()) {
    std::uint32_t number = 0;
    const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (fault == std::errc() && end == text->data() + text->size()) seconds = number;
  }
  if (!(seconds >= 0)) return bad_answer("says that the token ends before it began");
  const double longest = static_cast<double>(std::chrono::seconds(kLongestToken).count());
  return now + std::chrono::seconds(static_cast<std::int64_t>(std::min(seconds, longest)));
}

Result<TokenType> type_of(const boost::json::object& answer, const Grant& grant) {
  const auto type = text_member(answer, "token_type");
  if (!type) return std::unexpected(type.error());
  if (!grant.issued_token_type.empty()) {
    const auto issued = text_member(answer, "issued_token_type");
    if (!issued) return std::unexpected(issued.error());
    if (*issued != grant.issued_token_type) return bad_answer("has a token of another type than asked for");
    if (grant.issued_token_type == kIdentityAssertionType) return TokenType::none;
  }
  if (net::same_field_name(*type, "Bearer")) return TokenType::bearer;
  if (net::same_field_name(*type, "DPoP")) return TokenType::dpop;
  return bad_answer("has a token that is neither Bearer nor DPoP");
}

}  // namespace

Result<TokenAnswer> read_token_answer(const FetchAnswer& answer, const Grant& grant, Clock::Wall now) {
  constexpr std::size_t kMaxDepth = 32;
  if (answer.status != 200) return std::unexpected(server_error(answer));
  if (answer.body.size() > FetchRequest::kMaxAnswer)
    return std::unexpected(errors::too_large("the answer to a token request", FetchRequest::kMaxAnswer));
  const auto document = json::parse(answer.body, kMaxDepth);
  const auto* object = document ? document->if_object() : nullptr;
  if (object == nullptr) return bad_answer("is not a JSON object without repeated keys");
  TokenAnswer granted;
  const auto type = type_of(*object, grant);
  if (!type) return std::unexpected(type.error());
  granted.type = *type;
  for (const auto& [name, onto] :
       {std::pair("access_token", &granted.access_token), std::pair("refresh_token", &granted.refresh_token),
        std::pair("id_token", &granted.id_token)}) {
    auto token = token_member(*object, name);
    if (!token) return std::unexpected(std::move(token.error()));
    *onto = std::move(*token);
  }
  if (granted.access_token.empty()) return bad_answer("has no token");
  const auto end = end_of(*object, now);
  if (!end) return std::unexpected(end.error());
  granted.expires = *end;
  const auto scope = text_member(*object, "scope");
  if (!scope) return std::unexpected(scope.error());
  // RFC 6749, section 5.1
  granted.scopes = scope->empty() ? grant.asked : read_scopes(*scope);
  return granted;
}

Result<TokenRequest> TokenRequest::make(const ServerMetadata& server, const Client& client, Grant grant,
                                        const Clock& clock, DpopProver* prover) {
  if (client.issuer != server.issuer)
    return std::unexpected(errors::forbidden("the client belongs to another issuer, and is not shown to this one"));
  if (server.token_endpoint.empty())
    return std::unexpected(errors::protocol("the authorization server has no token endpoint"));
  auto url = safe_url(server.token_endpoint, "the token endpoint");
  if (!url) return std::unexpected(std::move(url.error()));
  const auto method = authentication_at(server, client);
  if (!method) return std::unexpected(method.error());
  return TokenRequest(std::move(*url), client, *method, std::move(grant), clock, prover);
}

TokenRequest::TokenRequest(net::Url url, const Client& client, ClientAuthentication authentication, Grant grant,
                           const Clock& clock, DpopProver* prover)
    : url_(std::move(url)),
      client_(client),
      authentication_(authentication),
      grant_(std::move(grant)),
      clock_(&clock),
      prover_(prover) {}

Result<std::optional<FetchRequest>> TokenRequest::next() {
  if (granted_) return std::nullopt;
  std::string form;
  append_form(form, "grant_type", grant_.type);
  for (const auto& [name, value] : grant_.fields)
    append_form(form, name, value.reveal());
  FetchRequest request =
      authenticated_post(url_, std::move(form), client_, authentication_, client_.issuer, clock_->wall());
  if (prover_ != nullptr) request.fields.emplace_back("DPoP", Secret(prover_->proof("POST", url_, clock_->wall())));
  return request;
}

Result<> TokenRequest::take(Result<FetchAnswer> answer) {
  if (!answer) return std::unexpected(std::move(answer.error()));
  const bool is_new = prover_ != nullptr && prover_->take_nonce(url_, answer->dpop_nonce);
  // RFC 9449, section 8: nothing was granted or spent yet.
  if (is_new && !has_new_nonce_ && answer->status == 400 && server_error_code(*answer) == "use_dpop_nonce") {
    has_new_nonce_ = true;
    return {};
  }
  auto granted = read_token_answer(*answer, grant_, clock_->wall());
  if (!granted) return std::unexpected(std::move(granted.error()));
  if (granted->type == TokenType::dpop && prover_ == nullptr) return bad_answer("has a token bound to no key of ours");
  granted_ = std::move(*granted);
  return {};
}

TokenAnswer TokenRequest::outcome() && { return std::move(*granted_); }

Result<std::optional<FetchRequest>> revocation_request(const ServerMetadata& server, const Client& client,
                                                       const Secret& token, std::string_view hint, Clock::Wall now) {
  if (server.revocation_endpoint.empty() || token.empty()) return std::nullopt;
  if (client.issuer != server.issuer)
    return std::unexpected(errors::forbidden("the client belongs to another issuer, and is not shown to this one"));
  auto url = safe_url(server.revocation_endpoint, "the revocation endpoint");
  if (!url) return std::unexpected(std::move(url.error()));
  const auto method = authentication_at(server, client);
  if (!method) return std::unexpected(method.error());
  std::string form;
  append_form(form, "token", token.reveal());
  append_form(form, "token_type_hint", hint);
  return authenticated_post(std::move(*url), std::move(form), client, *method, server.issuer, now);
}

Result<> read_revocation(const FetchAnswer& answer) {
  // RFC 7009, section 2.2: the server also answers 200 for a token that it does not know.
  if (answer.status == 200 || answer.status == 204) return {};
  return std::unexpected(server_error(answer));
}

}  // namespace proteus::auth::oauth
