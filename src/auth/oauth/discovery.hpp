#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/scopes.hpp"
#include "auth/tokens/metadata.hpp"
#include "auth/tokens/resource_metadata.hpp"
#include "net/http/url.hpp"

namespace proteus::auth::oauth {

// What a 401 or 403 says about how to get access. Every member may be empty.
struct ChallengeHints {
  std::string error = {};              // "invalid_token", "insufficient_scope", "use_dpop_nonce"
  std::string resource_metadata = {};  // a URL, not checked
  Scopes scopes = {};
  bool takes_dpop = false;       // there is a DPoP challenge
  bool takes_only_dpop = false;  // there is a DPoP challenge, and none for Bearer
};
ChallengeHints read_hints(std::string_view www_authenticate);

// The authorization server of a resource and how to get tokens there, found and checked.
struct Discovered {
  std::string resource;   // value of `resource` in requests, as the document spells it
  ServerMetadata server;  // server.issuer is checked to be the issuer that the resource named
  Scopes scopes = {};     // of the challenge, else of the resource's document
  bool requires_dpop = false;

  const std::string& issuer() const { return server.issuer; }
  bool may_refresh_offline() const;  // whether `offline_access` may be requested
};

// Returns whether a URL may be requested: https, or http to a loopback address.
bool is_safe(const net::Url& url);
// Parses a URL and checks it like `is_safe`. `what` names the URL in errors.
Result<net::Url> safe_url(std::string_view text, std::string_view what);

// Finds the metadata of a resource and of its authorization server (UPC-01): says what to request next and judges each
// answer. No I/O.
class Discovery {
 public:
  using Outcome = Discovered;

  // `issuer` is the only issuer to use, if one is configured; empty to use the first that the resource names.
  Discovery(net::Url endpoint, ChallengeHints hints, std::string issuer = {});
  // Discovers a configured issuer, for a resource that has no metadata or needs none.
  static Discovery of_issuer(std::string issuer, std::string resource);

  // Returns the next request; nothing once `outcome` is ready.
  Result<std::optional<FetchRequest>> next();
  // Judges the answer to the last request. Fails if no other place can help; otherwise `next` goes on with the next
  // place.
  Result<> take(Result<FetchAnswer> answer);
  // To be called once `next` has returned nothing.
  Discovered outcome() &&;

 private:
  Discovery() = default;
  Result<> take_resource(const FetchAnswer& answer);
  Result<> take_server(const FetchAnswer& answer);
  Result<> use_issuer(std::string issuer);
  // Checks a URL that a server named. A server elsewhere must not name a URL on this machine, because local services
  // may trust local requests.
  Result<net::Url> named_url(std::string_view text, std::string_view what) const;
  Result<> check_endpoints(const ServerMetadata& server) const;

  struct Place {
    net::Url url;
    std::vector<std::string> stands_for;  // values that `resource` may have in a document that is found there
  };

  std::vector<Place> places_;  // still to try, in order
  bool wants_server_ = false;  // the places are those of the authorization server's metadata
  bool is_done_ = false;
  bool is_local_ = false;  // the resource, or the configured issuer, is on this machine
  std::string only_issuer_;
  std::string issuer_;
  std::optional<Error> last_fault_;
  Discovered found_;
};

// Returns the scopes to request at first: the configured ones, else those of the challenge or the resource (both in
// `discovered.scopes`). Adds `offline_access` if the server knows it and a refresh token is wanted.
enum class Offline : bool { no, yes };
Scopes first_scopes(const Discovered& discovered, std::span<const std::string> configured, Offline offline);

}  // namespace proteus::auth::oauth
