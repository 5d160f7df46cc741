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

// What a 401 or 403 says about how to get further. All of it may be empty.
struct ChallengeHints {
  std::string error = {};              // "invalid_token", "insufficient_scope", "use_dpop_nonce"
  std::string resource_metadata = {};  // a URL, not checked
  Scopes scopes = {};
  bool takes_dpop = false;       // there is a DPoP challenge
  bool takes_only_dpop = false;  // and none for Bearer
};
ChallengeHints read_hints(std::string_view www_authenticate);

// Where and how a resource's tokens are got, found and checked.
struct Discovered {
  std::string resource;   // what to send as `resource`: as the document spells it
  ServerMetadata server;  // server.issuer is checked to be the one that the resource named
  Scopes scopes = {};     // those of the challenge, else those of the resource's document
  bool requires_dpop = false;

  const std::string& issuer() const { return server.issuer; }
  bool may_refresh_offline() const;  // whether `offline_access` may be asked for
};

// What may be requested: https, or http to a loopback address.
bool is_safe(const net::Url& url);
// The same for a URL as text.
Result<net::Url> safe_url(std::string_view text, std::string_view what);

// Finds a resource's metadata and that of its authorization server (UPC-01): says what to request next and judges each
// answer. No I/O.
class Discovery {
 public:
  using Outcome = Discovered;

  // `issuer`: the only one to use, where it is configured; empty for the first that the resource names.
  Discovery(net::Url endpoint, ChallengeHints hints, std::string issuer = {});
  // Of an issuer that is configured, for a resource that has no metadata, or needs none.
  static Discovery of_issuer(std::string issuer, std::string resource);

  // The next request; nothing once `outcome` is there.
  Result<std::optional<FetchRequest>> next();
  // Judges the answer to it; an error is one, too: the next place may be better.
  Result<> take(Result<FetchAnswer> answer);
  // Once there is nothing more to request.
  Discovered outcome() &&;

 private:
  Discovery() = default;
  Result<> take_resource(const FetchAnswer& answer);
  Result<> take_server(const FetchAnswer& answer);
  Result<> use_issuer(std::string issuer);
  // One that a server has named. Those elsewhere name nothing on this machine: what is here may trust whoever asks.
  Result<net::Url> named_url(std::string_view text, std::string_view what) const;
  Result<> check_endpoints(const ServerMetadata& server) const;

  struct Place {
    net::Url url;
    std::vector<std::string> stands_for;  // what `resource` may be in a document that is found there
  };

  std::vector<Place> places_;  // still to ask, in order
  bool wants_server_ = false;  // the places are the server's
  bool is_done_ = false;
  bool is_local_ = false;  // the resource, or the issuer that is configured, is on this machine
  std::string only_issuer_;
  std::string issuer_;
  std::optional<Error> last_fault_;
  Discovered found_;
};

// The scopes to ask for at first: those configured, else those of the challenge or the resource (both in `scopes`);
// `offline_access` is added where the server knows it and a refresh token is wanted.
enum class Offline : bool { no, yes };
Scopes first_scopes(const Discovered& discovered, std::span<const std::string> configured, Offline offline);

}  // namespace proteus::auth::oauth
