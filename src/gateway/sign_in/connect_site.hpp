#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/fetch/form.hpp"
#include "base/clock.hpp"
#include "base/sealing.hpp"
#include "gateway/sign_in/arrivals.hpp"
#include "gateway/sign_in/attempts.hpp"
#include "gateway/sign_in/authorizations.hpp"
#include "gateway/sign_in/awaited.hpp"
#include "gateway/sign_in/browser.hpp"
#include "gateway/sign_in/departures.hpp"
#include "gateway/sign_in/signed_in.hpp"
#include "gateway/sign_in/site_host.hpp"
#include "gateway/sign_in/ticket.hpp"
#include "net/http_server/exchange.hpp"

namespace proteus::gateway {

// The pages on which people connect upstreams: `/connect`, `/connect/{ticket}`, and where authorization servers send
// them back to, `/oauth/callback/{issuer}`.
//
// Who opens a link is asked who they are before anything is shown, and only the one whom the ticket names gets any
// further (UPC-06). A GET changes nothing; only the way back from an authorization server is one, and that takes the
// browser which left, by its cookie, and a `state` that is good for once. On any worker's thread.
class ConnectSite {
 public:
  // Everything outlives it.
  struct Dependencies {
    SiteHost& host;
    Authorizations& authorizations;
    Tickets& tickets;
    AwaitedSignIns& awaited;
    const Clock& clock;
  };
  ConnectSite(Dependencies dependencies, SealingKey key);

  static bool owns(std::string_view path);
  Task<> handle(net::Exchange& exchange);

  // For the page for operators: where a browser is to be sent, and the cookie that it comes back with.
  struct Sent {
    std::string url;
    std::string cookie;  // the value of a Set-Cookie field
  };
  // `path` is what of the page they had opened. The request outlives it.
  Task<Result<Sent>> send_operator(const net::Request& request, std::string issuer, std::string path);
  // Who came back with this browser, by the code that the page was given; once.
  std::optional<ArrivedOperator> take_operator(const net::Request& request, std::string_view code);

 private:
  // One request, and what its browser brought.
  struct Visit {
    net::Exchange& exchange;
    Browser browser;
    bool is_new = false;  // the browser had no cookie of ours
    auth::FormFields form = {};

    std::string_view field(std::string_view name) const { return auth::find_in(form, name); }
  };
  // A link with a ticket; none for the page that shows what somebody has connected.
  struct Link {
    std::string text = {};
    std::optional<Ticket> ticket = {};

    // What forms of its pages are bound to.
    std::string purpose(std::string_view step) const;
    bool admits(const Browser& browser) const;
  };

  Task<> show(Visit& visit, Link link);
  Task<> post(Visit& visit, Link link);
  Task<> ask_who(Visit& visit, const Link& link, unsigned status, std::string_view again = {});
  // Secrets are not guessed here, and identity providers not bothered.
  bool may_try(const Visit& visit, const Link& link);
  void note_failure(const Visit& visit, const Link& link);
  static std::vector<std::string> tried_by(const Visit& visit, const Link& link);
  Task<> take_secret(Visit& visit, Link link);
  Task<> send_to_identify(Visit& visit, Link link, std::string issuer);
  Task<> ask_consent(Visit& visit, const Link& link);
  Task<> decide(Visit& visit, const Link& link);
  Task<> depart(Visit& visit, const Link& link);
  // Of an upstream whose server takes the word of the identity provider: there is nowhere else to go.
  Task<> keep_identity(Visit& visit, const Link& link);
  Task<> list(Visit& visit);
  Task<> disconnect(Visit& visit);

  Task<> come_back(Visit& visit, std::string_view issuer);
  Task<> identified(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer);
  Task<> connected(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer);
  Task<> arrived(Visit& visit, Departure departure, auth::oauth::TokenAnswer answer);
  Task<> reply_document(net::Exchange& exchange, std::string_view issuer);

  Task<> reply(Visit& visit, unsigned status, std::string page);
  Task<> say(Visit& visit, unsigned status, std::string_view title, std::string_view text);
  // `location` is one of our own, or an authorization server's.
  Task<> redirect(Visit& visit, std::string location);
  std::string link_url(const Link& link) const;

  const Dependencies dependencies_;
  const Browsers browsers_;
  Departures departures_;
  SignedIn signed_in_;
  Arrivals arrivals_;
  Attempts attempts_;
};

}  // namespace proteus::gateway
