// What follows a user's decision: consent, the redirect to the authorization server, and the callback.
#include <fmt/format.h>

#include "gateway/sign_in/connect_site.hpp"
#include "gateway/sign_in/pages.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kNothing = " Nothing was connected.";

}  // namespace

Task<> ConnectSite::decide(Visit& visit, const Link& link) {
  const Ticket& ticket = *link.ticket;
  const auto plan = co_await dependencies_.authorizations.plan(ticket, Authorizations::Registration::as_it_is);
  if (!plan) co_return co_await say(visit, 502, "This server cannot be connected", plan.error().message());
  // Consent covers what was shown, and nothing that has replaced it since.
  if (visit.is_new || !browsers_.is_own_form(visit.browser, link.purpose((*plan)->digest()), visit.field("form"))) {
    co_return co_await say(visit, 403, "This form is not valid any more",
                           "It was made for another browser, or what it was about has changed. Open the link again.");
  }
  if (visit.field("decision") == "allow") {
    const auto settings = dependencies_.host.upstream(ticket.upstream);
    const bool by_identity =
        settings && settings->authentication.oauth.grant == providers::OAuthGrant::identity_assertion;
    co_return co_await (by_identity ? keep_identity(visit, link) : depart(visit, link));
  }
  if (dependencies_.tickets.use(ticket)) dependencies_.awaited.ended(ticket, SignInEnd::declined);
  co_await say(visit, 200, "Not connected", "You can close this page.");
}

Task<> ConnectSite::depart(Visit& visit, const Link& link) {
  const Ticket& ticket = *link.ticket;
  auto plan = co_await dependencies_.authorizations.plan(ticket, Authorizations::Registration::if_needed);
  if (!plan) co_return co_await say(visit, 502, "This server cannot be connected", plan.error().message());
  const Plan& planned = **plan;
  if (!browsers_.is_own_form(visit.browser, link.purpose(planned.digest()), visit.field("form")))
    co_return co_await say(visit, 409, "Something has changed", "Open the link again to see what it is about now.");
  auto request = auth::oauth::begin_authorization(
      planned.discovered, *planned.client,
      {.redirect_uri = planned.redirect_uri,
       .scopes = planned.scopes,
       .dpop_thumbprint = planned.proof_key ? planned.proof_key->thumbprint() : std::string()});
  if (!request) co_return co_await say(visit, 502, "This server cannot be connected", request.error().message());
  if (!dependencies_.tickets.use(ticket))
    co_return co_await say(visit, 409, "This link was used already", "Call the tool again to get another one.");
  co_await dependencies_.host.note(visit.browser.name, "connection.approve",
                                   {{"upstream", ticket.upstream},
                                    {"client", ticket.client},
                                    {"issuer", planned.discovered.issuer()},
                                    {"client_id", planned.client->id},
                                    {"redirect_uri", planned.redirect_uri},
                                    {"scopes", auth::oauth::write_scopes(planned.scopes)}});
  std::string url = request->url;
  departures_.add({.purpose = Departure::Purpose::connect,
                   .ticket = ticket,
                   .ticket_text = link.text,
                   .browser = visit.browser.id,
                   .from = network_of(visit.exchange.request().client()),
                   .plan = std::move(*plan),
                   .request = std::move(*request)});
  co_await redirect(visit, std::move(url));
}

Task<> ConnectSite::keep_identity(Visit& visit, const Link& link) {
  const Ticket& ticket = *link.ticket;
  auto identity = signed_in_.find(visit.browser.id);
  if (!identity) co_return co_await ask_who(visit, link, 403);
  if (!dependencies_.tickets.use(ticket))
    co_return co_await say(visit, 409, "This link was used already", "Call the tool again to get another one.");
  co_await dependencies_.host.note(visit.browser.name, "connection.approve",
                                   {{"upstream", ticket.upstream}, {"client", ticket.client}});
  const auto kept = co_await dependencies_.host.keep(std::move(*identity), visit.browser.name);
  dependencies_.awaited.ended(ticket, kept ? SignInEnd::connected : SignInEnd::failed);
  if (!kept) co_return co_await say(visit, 500, "The sign-in could not be kept", kept.error().message());
  co_await say(visit, 200, fmt::format("{} is connected", ticket.upstream),
               "You can close this page. What was waiting for it goes on.");
}

Task<> ConnectSite::come_back(Visit& visit, std::string_view issuer) {
  const auto callback = auth::oauth::read_callback(visit.exchange.request().query());
  auto departure = callback && !visit.is_new ? departures_.take(callback->state, visit.browser.id) : std::nullopt;
  if (!departure) {
    co_return co_await say(visit, 400, "This sign-in is not known here",
                           "It began in another browser, has ended already, or took too long." + std::string(kNothing));
  }
  const bool connects = departure->purpose == Departure::Purpose::connect;
  const auto fail = [&](SignInEnd how) {
    if (connects) dependencies_.awaited.ended(departure->ticket, how);
  };
  // Each issuer has its own callback. An answer at the callback of another issuer is not the answer to this request.
  const bool is_same_way = issuer == issuer_name(departure->plan->discovered.issuer());
  const bool is_same_person = !connects || visit.browser.is(departure->ticket.person);
  const bool is_answer = is_same_way && auth::oauth::check_sender(*callback, departure->request);
  if (is_answer) co_await dependencies_.authorizations.came_back(departure->plan, callback->error);
  auto code = auth::oauth::judge_callback(*callback, departure->request);
  if (!is_same_way || !is_same_person || !code) {
    const bool declined = callback->error == "access_denied" && is_answer && is_same_person;
    fail(declined ? SignInEnd::declined : SignInEnd::failed);
    const std::string why =
        code ? std::string("The answer is not the one that was asked for.") : code.error().message();
    co_return co_await say(visit, 400, declined ? "Not connected" : "The sign-in failed", why + std::string(kNothing));
  }
  auto answer = co_await dependencies_.authorizations.redeem(departure->plan, departure->request, std::move(*code));
  if (!answer) {
    fail(SignInEnd::failed);
    co_return co_await say(visit, 502, "The sign-in failed", answer.error().message() + std::string(kNothing));
  }
  if (departure->purpose == Departure::Purpose::operate)
    co_return co_await arrived(visit, std::move(*departure), std::move(*answer));
  if (connects) co_return co_await connected(visit, std::move(*departure), std::move(*answer));
  co_await identified(visit, std::move(*departure), std::move(*answer));
}

Task<> ConnectSite::identified(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer) {
  const bool is_for_ticket = !departure.ticket_text.empty();
  const auto kind = is_for_ticket ? departure.ticket.person.kind : Person::Kind::user;
  auto found = co_await dependencies_.host.by_identity(kind, std::move(answer.access_token), visit.exchange.request());
  if (!found) co_return co_await say(visit, 403, "This account cannot be used here", found.error().message());
  if (is_for_ticket && found->person != departure.ticket.person) {
    co_return co_await say(visit, 403, "This link is not yours",
                           "The program that asked for it works for another account." + std::string(kNothing));
  }
  visit.browser = browsers_.begin(found->person, std::move(found->name));
  visit.is_new = true;
  if (!answer.id_token.empty() && kind == Person::Kind::user) {
    const std::string& issuer = departure.plan->discovered.issuer();
    Grant identity{.owner = GrantOwner(found->person.key),
                   .owner_name = visit.browser.name,
                   .target = identity_target(issuer),
                   .upstream = issuer,
                   .server = departure.plan->discovered.server,
                   .client = {.issuer = issuer, .id = departure.plan->client->id}};
    identity.tokens.id_token = std::move(answer.id_token);
    signed_in_.put(visit.browser.id, std::move(identity));
  }
  co_await redirect(visit, link_url({.text = departure.ticket_text}));
}

Task<> ConnectSite::connected(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer) {
  const Ticket& ticket = departure.ticket;
  const auto settings = dependencies_.host.upstream(ticket.upstream);
  if (!settings) {
    dependencies_.awaited.ended(ticket, SignInEnd::failed);
    co_return co_await say(visit, 404, "This server is gone", "The operator has removed it.");
  }
  const Plan& plan = *departure.plan;
  // Its tokens must not be sent to what has taken over the name since.
  if (target_of(*settings) != plan.target) {
    dependencies_.awaited.ended(ticket, SignInEnd::failed);
    co_return co_await say(visit, 409, "This server has changed",
                           "The operator has changed it during the sign-in." + std::string(kNothing));
  }
  Grant grant{.owner = ticket.person.kind == Person::Kind::user ? GrantOwner(ticket.person.key) : gateway_owner(),
              .owner_name = visit.browser.name,
              .target = plan.target,
              .upstream = ticket.upstream,
              .resource = plan.discovered.resource,
              .server = plan.discovered.server,
              .client = *plan.client,
              .tokens = std::move(answer),
              .asked = plan.scopes};
  // Credentials from the settings are not stored in the grant; they are read from the settings each time.
  if (grant.client.registered == auth::oauth::Registered::beforehand) {
    grant.client.secret = {};
    grant.client.key.reset();
  }
  if (grant.tokens.type == auth::oauth::TokenType::dpop) grant.proof_key = plan.proof_key;
  const auto kept = co_await dependencies_.host.keep(std::move(grant), visit.browser.name);
  dependencies_.awaited.ended(ticket, kept ? SignInEnd::connected : SignInEnd::failed);
  if (!kept) co_return co_await say(visit, 500, "The sign-in could not be kept", kept.error().message());
  co_await say(visit, 200, fmt::format("{} is connected", settings->label()),
               "You can close this page. What was waiting for it goes on.");
}

// Serves our client metadata document to authorization servers, which got its URL as the client id.
Task<> ConnectSite::reply_document(net::Exchange& exchange, std::string_view file) {
  const std::string gateway = dependencies_.host.gateway_url();
  const bool is_one = file.ends_with(".json") && is_issuer_name(file.substr(0, file.size() - 5));
  if (!gateway.starts_with("https:") || !is_one || exchange.request().method() != "GET") {
    co_await exchange.reply({.status = 404, .content_type = "text/plain"}, "There is no such client.\n");
    co_return;
  }
  const std::string name(file.substr(0, file.size() - 5));
  const std::string document =
      auth::oauth::write_client_document(client_description(gateway, name), client_document_url(gateway, name));
  co_await exchange.reply(
      {.status = 200, .content_type = "application/json", .prepared = "Cache-Control: max-age=300\r\n"}, document);
}

}  // namespace proteus::gateway
