// Operators who sign in on the page by their identity provider: the way there, and back.
#include <algorithm>

#include <fmt/format.h>

#include "auth/tokens/jwt.hpp"
#include "gateway/sign_in/connect_site.hpp"
#include "net/http/url.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kPage = "/ui";
constexpr std::size_t kLongestPath = 2048;

// A path of the page and nothing else: a browser is sent there.
bool is_of_page(std::string_view path) {
  const bool plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
  return plain && path.size() <= kLongestPath && path.starts_with(kPage) &&
         (path.size() == kPage.size() || path[kPage.size()] == '/' || path[kPage.size()] == '?');
}

// What the provider says beside the token was asked for by this browser, here, now (OpenID Connect Core, 3.1.3.7). It
// comes from the provider itself; who somebody is, is what the access token says, whose signature is checked.
Result<> check_id_token(const Secret& id_token, const auth::oauth::AuthorizationRequest& request) {
  const auto refuse = [](std::string_view why) {
    return std::unexpected(errors::forbidden(fmt::format("what the identity provider says {}", why)));
  };
  if (id_token.empty()) return refuse("has no ID token");
  const auto parsed = auth::Jwt::parse(id_token.reveal());
  const auto claims =
      parsed ? auth::Claims::read(parsed->payload()) : Result<auth::Claims>(std::unexpect, parsed.error());
  if (!claims) return refuse("cannot be read");
  if (claims->issuer() != request.issuer) return refuse("comes from another one");
  if (std::ranges::find(claims->audiences(), request.client_id) == claims->audiences().end())
    return refuse("is for somebody else");
  const auto* const nonce = claims->all().if_contains("nonce");
  const bool is_same =
      nonce != nullptr && nonce->is_string() && equal_in_constant_time(nonce->get_string(), request.nonce);
  return is_same ? Result<>() : refuse("answers another request");
}

// By their address, as what they try is counted.
std::string operator_from(const net::Request& request) { return fmt::format("operator from {}", request.client()); }

}  // namespace

Task<Result<ConnectSite::Sent>> ConnectSite::send_operator(const net::Request& request, std::string issuer,
                                                           std::string path) {
  const std::string gateway = dependencies_.host.gateway_url();
  const auto url = net::Url::parse(gateway);
  // The way back leads to the URL that the provider knows, and cookies of another host do not go there.
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
  // Until they are back: whoever only leaves fills our memory.
  attempts_.failed(who, dependencies_.clock.now());
  auto known = browsers_.find(request.fields().find("Cookie").value_or(""));
  // One that ends before they can be back is of no use.
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
  const bool added = departures_.add({.purpose = Departure::Purpose::operate,
                                      .ticket = Ticket{.id = browser.id},
                                      .ticket_text = is_of_page(path) ? std::move(path) : std::string(kPage),
                                      .browser = browser.id,
                                      .plan = std::move(plan),
                                      .request = std::move(*authorization)});
  if (!added) co_return std::unexpected(errors::exhausted("too many sign-ins are open"));
  co_return sent;
}

Task<> ConnectSite::arrived(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer) {
  if (const auto checked = check_id_token(answer.id_token, departure.request); !checked)
    co_return co_await say(visit, 403, "The sign-in failed", checked.error().message());
  auto found =
      co_await dependencies_.host.operator_by_identity(std::move(answer.access_token), visit.exchange.request());
  if (!found) co_return co_await say(visit, 403, "This account cannot be used here", found.error().message());
  attempts_.succeeded(operator_from(visit.exchange.request()));
  co_await dependencies_.host.note(found->name, "page.sign_in", {{"issuer", found->issuer}});
  const std::string code =
      arrivals_.add({.who = std::move(*found), .path = std::move(departure.ticket_text)}, visit.browser.id);
  if (code.empty()) co_return co_await say(visit, 503, "Too many sign-ins are open", "Try again in some minutes.");
  // The page takes the code from the fragment and sends it itself: that is a request of the same site.
  co_await redirect(visit, fmt::format("{}{}/sign-in#{}", dependencies_.host.gateway_url(), kPage, code));
}

std::optional<ArrivedOperator> ConnectSite::take_operator(const net::Request& request, std::string_view code) {
  const auto browser = browsers_.find(request.fields().find("Cookie").value_or(""));
  return browser ? arrivals_.take(code, browser->id) : std::nullopt;
}

}  // namespace proteus::gateway
