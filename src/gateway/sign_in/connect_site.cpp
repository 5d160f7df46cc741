#include "gateway/sign_in/connect_site.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/date_time.hpp"
#include "gateway/sign_in/pages.hpp"
#include "net/http/url.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kConnect = "/connect";
constexpr std::string_view kCallback = "/oauth/callback/";
constexpr std::string_view kClient = "/oauth/client/";

bool is_at(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

}  // namespace

ConnectSite::ConnectSite(Dependencies dependencies, SealingKey key)
    : dependencies_(dependencies),
      browsers_(key, dependencies.clock,
                [&host = dependencies.host] {
                  return host.gateway_url().starts_with("https:") ? Browsers::Scheme::https : Browsers::Scheme::http;
                }),
      departures_(dependencies.clock),
      signed_in_(dependencies.clock),
      arrivals_(dependencies.clock) {}

bool ConnectSite::owns(std::string_view path) {
  return is_at(path, kConnect) || path.starts_with(kCallback) || path.starts_with(kClient);
}

std::string ConnectSite::Link::purpose(std::string_view step) const {
  return fmt::format("{}\n{}", step, ticket ? ticket->id : "all");
}

bool ConnectSite::Link::admits(const Browser& browser) const {
  if (!browser.person) return false;
  return ticket ? browser.is(ticket->person) : browser.person->kind == Person::Kind::user;
}

std::string ConnectSite::link_url(const Link& link) const {
  return fmt::format("{}{}{}{}", dependencies_.host.gateway_url(), kConnect, link.text.empty() ? "" : "/", link.text);
}

Task<> ConnectSite::handle(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  const std::string_view path = request.path();
  const bool posts = request.method() == "POST" && is_at(path, kConnect);
  if (path.starts_with(kClient)) co_return co_await reply_document(exchange, path.substr(kClient.size()));
  auto known = browsers_.find(request.fields().find("Cookie").value_or(""));
  const bool is_new = !known;
  Visit visit{exchange, known ? std::move(*known) : browsers_.begin(), is_new};
  if (!posts && request.method() != "GET")
    co_return co_await say(visit, 405, "This is not possible", "This page is opened, and its forms are sent.");
  if (path.starts_with(kCallback)) co_return co_await come_back(visit, path.substr(kCallback.size()));

  Link link;
  if (path.size() > kConnect.size() + 1) {
    link.text = path.substr(kConnect.size() + 1);
    auto ticket = dependencies_.tickets.read(link.text);
    if (!ticket) {
      co_return co_await say(visit, 404, "This link does not work any more",
                             "Links to connect a server work once, and for ten minutes. Call the tool again to get "
                             "another one.");
    }
    link.ticket = std::move(*ticket);
  }
  if (!posts) co_return co_await show(visit, std::move(link));
  if (!co_await exchange.read_body(net::Standing::stranger)) co_return;
  auto form = auth::read_form(request.body());
  if (!form) co_return co_await say(visit, 400, "This form cannot be read", form.error().message());
  visit.form = std::move(*form);
  co_await post(visit, std::move(link));
}

Task<> ConnectSite::show(Visit& visit, Link link) {
  if (!link.admits(visit.browser)) co_return co_await ask_who(visit, link, 200);
  if (!link.ticket) co_return co_await list(visit);
  co_await ask_consent(visit, link);
}

Task<> ConnectSite::post(Visit& visit, Link link) {
  const std::string_view token = visit.field("form");
  const auto is_step = [&](std::string_view step) {
    return !visit.is_new && browsers_.is_own_form(visit.browser, link.purpose(step), token);
  };
  if (is_step("who")) {
    if (!may_try(visit, link))
      co_return co_await ask_who(visit, link, 429, "There were too many tries. Wait a minute.");
    if (!visit.field("secret").empty()) co_return co_await take_secret(visit, std::move(link));
    std::string issuer(link.ticket ? std::string_view(link.ticket->person.issuer) : visit.field("issuer"));
    co_return co_await send_to_identify(visit, std::move(link), std::move(issuer));
  }
  if (link.admits(visit.browser)) {
    if (link.ticket) co_return co_await decide(visit, link);
    if (is_step("list")) co_return co_await disconnect(visit);
  }
  co_await say(visit, 403, "This form is not valid any more",
               "It was made for another browser, or too long ago. Open the link again.");
}

Task<> ConnectSite::ask_who(Visit& visit, const Link& link, unsigned status, std::string_view again) {
  const std::string action = link_url(link);
  const std::string token = browsers_.form_token(visit.browser, link.purpose("who"));
  const pages::Form form{action, token};
  if (!link.ticket)
    co_return co_await reply(visit, status, pages::ask_for_any(form, dependencies_.host.issuers(), again));
  const Person& person = link.ticket->person;
  if (!person.issuer.empty()) co_return co_await reply(visit, status, pages::ask_for_identity(form, person.issuer));
  const auto what = person.kind == Person::Kind::user ? pages::Secret::token : pages::Secret::admin_key;
  co_await reply(visit, status, pages::ask_for_secret(form, what, again));
}

std::vector<std::string> ConnectSite::tried_by(const Visit& visit, const Link& link) {
  std::vector<std::string> all = {fmt::format("from {}", network_of(visit.exchange.request().client()))};
  if (link.ticket) all.push_back(fmt::format("for {}", link.ticket->id));
  return all;
}

bool ConnectSite::may_try(const Visit& visit, const Link& link) {
  const auto now = dependencies_.clock.now();
  return std::ranges::all_of(tried_by(visit, link), [&](const auto& who) { return attempts_.may_try(who, now); });
}

void ConnectSite::note_failure(const Visit& visit, const Link& link) {
  for (const auto& who : tried_by(visit, link))
    attempts_.failed(who, dependencies_.clock.now());
}

Task<> ConnectSite::take_secret(Visit& visit, Link link) {
  const auto kind = link.ticket ? link.ticket->person.kind : Person::Kind::user;
  auto found = dependencies_.host.by_secret(kind, visit.field("secret"));
  // Somebody with another secret is not told whose link it is.
  if (!found || (link.ticket && found->person != link.ticket->person)) {
    note_failure(visit, link);
    co_return co_await ask_who(visit, link, 403,
                               link.ticket ? "This is not what the link was asked for with." : "It is not known here.");
  }
  visit.browser = browsers_.begin(std::move(found->person), std::move(found->name));
  visit.is_new = true;
  co_await redirect(visit, link_url(link));
}

Task<> ConnectSite::send_to_identify(Visit& visit, Link link, std::string issuer) {
  const auto issuers = dependencies_.host.issuers();
  if (std::ranges::find(issuers, issuer) == issuers.end()) {
    co_return co_await say(visit, 403, "Nobody can sign in here",
                           "The operator of this gateway has not said how people sign in at this identity provider.");
  }
  // Each sign-in causes requests to the identity provider, so it counts as a failed attempt: for the ticket if there is
  // one, so that an address may have many, otherwise for the address.
  attempts_.failed(tried_by(visit, link).back(), dependencies_.clock.now());
  const auto kind = link.ticket ? link.ticket->person.kind : Person::Kind::user;
  auto plan = co_await dependencies_.authorizations.plan_identity(issuer, dependencies_.host.resource(kind));
  if (!plan) co_return co_await say(visit, 502, "The identity provider cannot be used", plan.error().message());
  auto request = auth::oauth::begin_authorization((*plan)->discovered, *(*plan)->client,
                                                  {.redirect_uri = (*plan)->redirect_uri, .scopes = (*plan)->scopes});
  if (!request) co_return co_await say(visit, 502, "The identity provider cannot be used", request.error().message());
  std::string url = request->url;
  departures_.add({.purpose = Departure::Purpose::identify,
                   .ticket = link.ticket.value_or(Ticket{.id = visit.browser.id}),
                   .ticket_text = link.text,
                   .browser = visit.browser.id,
                   .from = network_of(visit.exchange.request().client()),
                   .plan = std::move(*plan),
                   .request = std::move(*request)});
  co_await redirect(visit, std::move(url));
}

Task<> ConnectSite::ask_consent(Visit& visit, const Link& link) {
  const Ticket& ticket = *link.ticket;
  const auto settings = dependencies_.host.upstream(ticket.upstream);
  if (!settings) co_return co_await say(visit, 404, "This server is gone", "The operator has removed it.");
  const bool by_identity = settings->authentication.oauth.grant == providers::OAuthGrant::identity_assertion;
  // The user may have been identified for something else, or the ID token may have expired here.
  if (by_identity && !signed_in_.find(visit.browser.id)) co_return co_await ask_who(visit, link, 200);
  const auto plan = co_await dependencies_.authorizations.plan(ticket, Authorizations::Registration::as_it_is);
  if (!plan) co_return co_await say(visit, 502, "This server cannot be connected", plan.error().message());
  const std::string action = link_url(link);
  const std::string token = browsers_.form_token(visit.browser, link.purpose((*plan)->digest()));
  const std::string label = settings->label();
  const std::string gateway = dependencies_.host.gateway_url();
  co_await reply(
      visit, 200,
      pages::consent({action, token}, {.person = visit.browser.name,
                                       .upstream = label,
                                       .url = settings->url,
                                       .client = ticket.client,
                                       .gateway = gateway,
                                       .server = by_identity ? (*plan)->discovered.issuer()
                                                             : (*plan)->discovered.server.authorization_endpoint,
                                       .client_id = (*plan)->client ? std::string_view((*plan)->client->id)
                                                                    : "a client that it registers when you continue",
                                       .redirect_uri = by_identity ? std::string_view() : (*plan)->redirect_uri,
                                       .scopes = (*plan)->scopes}));
}

Task<> ConnectSite::list(Visit& visit) {
  std::vector<pages::Connected> all;
  for (const auto& grant : dependencies_.host.grants_of(*visit.browser.person)) {
    all.push_back({.id = grant->id,
                   .upstream = grant->upstream,
                   .server = grant->issuer(),
                   .since = write_date_time(grant->connected_at),
                   .state = grant->state == GrantState::connected ? "connected" : "needs a sign-in",
                   .scopes = grant->tokens.scopes});
  }
  const Link link;
  const std::string action = link_url(link);
  const std::string token = browsers_.form_token(visit.browser, link.purpose("list"));
  co_await reply(visit, 200, pages::connections({action, token}, visit.browser.name, all));
}

Task<> ConnectSite::disconnect(Visit& visit) {
  const std::string id(visit.field("disconnect"));
  const auto own = dependencies_.host.grants_of(*visit.browser.person);
  if (std::ranges::find(own, id, [](const auto& grant) { return grant->id; }) == own.end())
    co_return co_await say(visit, 404, "There is no such connection", "It may have been ended already.");
  const auto done = co_await dependencies_.host.disconnect(id, visit.browser.name);
  if (!done) co_return co_await say(visit, 500, "It is still connected", done.error().message());
  if (!done->empty()) {
    co_return co_await say(visit, 200, "Disconnected here only",
                           fmt::format("The gateway has deleted its token, but the token was not revoked: {}. If the "
                                       "server lets you end the gateway's access, do it there.",
                                       *done));
  }
  co_await redirect(visit, link_url({}));
}

Task<> ConnectSite::reply(Visit& visit, unsigned status, std::string page) {
  std::string fields = pages::fields();
  if (visit.is_new) net::append_field(fields, "Set-Cookie", browsers_.cookie(visit.browser));
  co_await visit.exchange.reply({.status = status, .content_type = "text/html; charset=utf-8", .prepared = fields},
                                page);
}

Task<> ConnectSite::say(Visit& visit, unsigned status, std::string_view title, std::string_view text) {
  return reply(visit, status, pages::message(title, text));
}

Task<> ConnectSite::redirect(Visit& visit, std::string location) {
  std::string fields = pages::fields();
  if (visit.is_new) net::append_field(fields, "Set-Cookie", browsers_.cookie(visit.browser));
  net::append_field(fields, "Location", location);
  co_await visit.exchange.reply({.status = 303, .prepared = fields});
}

}  // namespace proteus::gateway
