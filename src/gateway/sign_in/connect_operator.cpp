// Operators' sign-in on the page by their identity provider: departure and return.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "auth/tokens/claims.hpp"
#include "auth/tokens/jwt.hpp"
#include "gateway/sign_in/connect_site.hpp"
#include "net/http/url.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kPage = "/ui";
constexpr std::size_t kLongestPath = 2048;
constexpr std::chrono::seconds kLeeway{30};  // clocks differ

// Returns whether the path is one of the page. The browser is redirected there, so anything else would be an open
// redirect.
bool is_of_page(std::string_view path) {
  const bool plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
  return plain && path.size() <= kLongestPath && path.starts_with(kPage) &&
         (path.size() == kPage.size() || path[kPage.size()] == '/' || path[kPage.size()] == '?');
}

// Checks that the ID token answers this request of this browser (OpenID Connect Core, section 3.1.3.7). It came
// directly from the provider, so its signature is not checked. The access token, whose signature is checked, says who
// the operator is.
Result<> check_id_token(const Secret& id_token, const auth::oauth::AuthorizationRequest& request, Clock::Wall now) {
  const auto refuse = [](std::string_view why) {
    return std::unexpected(errors::forbidden(fmt::format("what the identity provider says {}", why)));
  };
  if (id_token.empty()) return refuse("has no ID token");
  const auto parsed = auth::Jwt::parse(id_token.reveal());
  const auto claims =
      parsed ? auth::Claims::read(parsed->payload()) : Result<auth::Claims>(std::unexpect, parsed.error());
  if (!claims) return refuse("cannot be read");
  if (const auto checked = auth::check_claims(*claims, request.issuer, now, kLeeway); !checked)
    return refuse("is not valid: " + checked.error().message());
  if (std::ranges::find(claims->audiences(), request.client_id) == claims->audiences().end())
    return refuse("is for somebody else");
  const auto* const nonce = claims->all().if_contains("nonce");
  const bool is_same =
      nonce != nullptr && nonce->is_string() && equal_in_constant_time(nonce->get_string(), request.nonce);
  return is_same ? Result<>() : refuse("answers another request");
}

// The name under which attempts are counted: one for each network.
std::string operator_from(const net::Request& request) {
  return fmt::format("operator from {}", network_of(request.client()));
}

}  // namespace

Task<Result<ConnectSite::Sent>> ConnectSite::send_operator(const net::Request& request, std::string issuer,
                                                           std::string path) {
  const std::string gateway = dependencies_.host.gateway_url();
  const auto url = net::Url::parse(gateway);
  // The callback leads to the URL that the provider knows, and cookies of another host are not sent there.
  if (url && request.fields().find("Origin").value_or("") != url->origin()) {
    co_return std::unexpected(errors::conflict(
        fmt::format("sign in at {}{}: identity providers know this gateway by that URL", gateway, kPage)));
  }
  const auto issuers = dependencies_.host.issuers();
  if (std::ranges::find(issuers, issuer) == issuers.end())
    co_return std::unexpected(errors::not_found("nobody can sign in at this identity provider"));
  const std::string who = operator_from(request);
  if (!attempts_.may_try(who, dependencies_.clock.now()))
    co_return std::unexpected(errors::exhausted("there were too many tries; wait a minute"));
  // Counts the departure as a failure until the operator is back, because each departure takes memory.
  attempts_.failed(who, dependencies_.clock.now());
  auto known = browsers_.find(request.fields().find("Cookie").value_or(""));
  // A cookie that expires before the operator can be back is useless.
  const bool lasts = known && known->until > dependencies_.clock.wall() + Departures::kLifetime;
  const Browser browser = lasts ? std::move(*known) : browsers_.begin();
  const auto found =
      co_await dependencies_.authorizations.plan_identity(issuer, dependencies_.host.resource(Person::Kind::admin));
  if (!found) co_return std::unexpected(found.error());
  auto plan = std::make_shared<Plan>(**found);
  plan->scopes = auth::oauth::united(plan->scopes, std::vector<std::string>{"openid"});
  auto authorization = auth::oauth::begin_authorization(plan->discovered, *plan->client,
                                                        {.redirect_uri = plan->redirect_uri, .scopes = plan->scopes});
  if (!authorization) co_return std::unexpected(std::move(authorization.error()));
  Sent sent{.url = authorization->url, .cookie = browsers_.cookie(browser)};
  departures_.add({.purpose = Departure::Purpose::operate,
                   .ticket = Ticket{.id = browser.id},
                   .ticket_text = is_of_page(path) ? std::move(path) : std::string(kPage),
                   .browser = browser.id,
                   .from = network_of(request.client()),
                   .plan = std::move(plan),
                   .request = std::move(*authorization)});
  co_return sent;
}

Task<> ConnectSite::arrived(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer) {
  if (const auto checked = check_id_token(answer.id_token, departure.request, dependencies_.clock.wall()); !checked)
    co_return co_await say(visit, 403, "The sign-in failed", checked.error().message());
  auto found =
      co_await dependencies_.host.operator_by_identity(std::move(answer.access_token), visit.exchange.request());
  if (!found) co_return co_await say(visit, 403, "This account cannot be used here", found.error().message());
  attempts_.succeeded(operator_from(visit.exchange.request()));
  co_await dependencies_.host.note(found->name, "page.sign_in", {{"issuer", found->issuer}});
  const std::string code =
      arrivals_.add({.who = std::move(*found), .path = std::move(departure.ticket_text)}, visit.browser.id);
  if (code.empty()) co_return co_await say(visit, 503, "Too many sign-ins are open", "Try again in some minutes.");
  // The code is in the fragment. The page sends it in a request of its own, which is a same-site request.
  co_await redirect(visit, fmt::format("{}{}/sign-in#{}", dependencies_.host.gateway_url(), kPage, code));
}

std::optional<ArrivedOperator> ConnectSite::take_operator(const net::Request& request, std::string_view code) {
  const auto browser = browsers_.find(request.fields().find("Cookie").value_or(""));
  return browser ? arrivals_.take(code, browser->id) : std::nullopt;
}

}  // namespace proteus::gateway
