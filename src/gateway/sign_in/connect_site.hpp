#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/fetch/form.hpp"
#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"
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

// The pages on which people connect upstreams: `/connect`, `/connect/{ticket}`, and `/oauth/callback/{issuer}`, to
// which authorization servers send them back. Also serves our client metadata documents.
//
// The page asks whoever opens a link to identify themselves before it shows anything, and only the person of the ticket
// gets any further (UPC-06). A GET changes nothing, except the callback of an authorization server, which needs the
// cookie of the browser that departed and a single-use `state`. May be used on any worker's thread.
class ConnectSite {
 public:
  // All references must outlive this object.
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

  // For the operators' page: the URL to send a browser to, and the cookie that it must bring back.
  struct Sent {
    std::string url;
    std::string cookie;  // the value of a Set-Cookie field
  };
  // Starts an operator's sign-in at an identity provider. `path` is the path of the page that they had opened. The
  // request must outlive the task.
  Task<Result<Sent>> send_operator(const net::Request& request, std::string issuer, std::string path);
  // Returns the operator who came back with this browser, by the code that the page was given. A code works once.
  std::optional<ArrivedOperator> take_operator(const net::Request& request, std::string_view code);

 private:
  // A request and what its browser sent.
  struct Visit {
    net::Exchange& exchange;
    Browser browser;
    bool is_new = false;  // the browser has no valid cookie yet
    auth::FormFields form = {};

    std::string_view field(std::string_view name) const { return auth::find_in(form, name); }
  };
  // A link with a ticket. Without a ticket: the page that lists what somebody has connected.
  struct Link {
    std::string text = {};
    std::optional<Ticket> ticket = {};

    // Returns the purpose that the form of a step is bound to.
    std::string purpose(std::string_view step) const;
    bool admits(const Browser& browser) const;
  };

  Task<> show(Visit& visit, Link link);
  Task<> post(Visit& visit, Link link);
  Task<> ask_who(Visit& visit, const Link& link, unsigned status, std::string_view again = {});
  // Limits attempts, so that nobody can guess secrets or flood identity providers here.
  bool may_try(const Visit& visit, const Link& link);
  void note_failure(const Visit& visit, const Link& link);
  static std::vector<std::string> tried_by(const Visit& visit, const Link& link);
  Task<> take_secret(Visit& visit, Link link);
  Task<> send_to_identify(Visit& visit, Link link, std::string issuer);
  Task<> ask_consent(Visit& visit, const Link& link);
  Task<> decide(Visit& visit, const Link& link);
  Task<> depart(Visit& visit, const Link& link);
  // Connects an upstream whose server accepts the identity provider's word: the user is not sent anywhere else.
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
  // `location` must be a URL of our own or of an authorization server.
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
