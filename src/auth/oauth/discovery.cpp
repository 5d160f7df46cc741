#include "auth/oauth/discovery.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "auth/tokens/challenge.hpp"
#include "base/log/log.hpp"
#include "net/http_client/proxy.hpp"

namespace proteus::auth::oauth {
namespace {

constexpr std::string_view kWellKnown = "/.well-known/oauth-protected-resource";

// Returns a resource identifier in a form in which scheme and host compare in any case (RFC 3986, section 6.2.2);
// nothing if the text is not an identifier.
std::optional<std::string> comparable_resource(std::string_view text) {
  if (text.contains('#')) return std::nullopt;
  const auto url = net::Url::parse(text);
  return url ? std::optional<std::string>(url->text()) : std::nullopt;
}

// Fails if the URL would be too long.
Result<net::Url> at_origin(const net::Url& url, std::string_view target) {
  return net::Url::parse(std::string(url.origin()) + std::string(target));
}

bool is_server_fault(unsigned status) { return status >= 500 || status == 429; }

// Returns whether no other place would change the result.
bool is_final(const Error& fault) {
  return fault.kind() == ErrorKind::unreachable || fault.kind() == ErrorKind::timeout ||
         fault.kind() == ErrorKind::unavailable || fault.kind() == ErrorKind::cancelled;
}

bool is_on_this_machine(std::string_view text) {
  const auto url = net::Url::parse(text);
  return url && net::is_loopback_host(url->host());
}

}  // namespace

bool is_safe(const net::Url& url) { return url.is_https() || net::is_loopback_host(url.host()); }

Result<net::Url> safe_url(std::string_view text, std::string_view what) {
  auto url = net::Url::parse(text);
  if (!url) return std::unexpected(errors::protocol(fmt::format("{} is not an http or https URL", what)));
  if (!is_safe(*url)) return std::unexpected(errors::forbidden(fmt::format("{} is not https", what)));
  return url;
}

ChallengeHints read_hints(std::string_view www_authenticate) {
  ChallengeHints hints;
  bool takes_bearer = false;
  for (const Challenge& challenge : read_challenges(www_authenticate)) {
    const bool is_dpop = challenge.is("DPoP");
    if (!is_dpop && !challenge.is("Bearer")) continue;
    hints.takes_dpop = hints.takes_dpop || is_dpop;
    takes_bearer = takes_bearer || !is_dpop;
    if (hints.error.empty()) hints.error = challenge.find("error");
    if (hints.resource_metadata.empty()) hints.resource_metadata = challenge.find("resource_metadata");
    if (hints.scopes.empty()) hints.scopes = read_scopes(challenge.find("scope"));
  }
  hints.takes_only_dpop = hints.takes_dpop && !takes_bearer;
  return hints;
}

bool Discovered::may_refresh_offline() const { return has_text(server.scopes, "offline_access"); }

Result<net::Url> Discovery::named_url(std::string_view text, std::string_view what) const {
  auto url = safe_url(text, what);
  if (url && !is_local_ && net::is_loopback_host(url->host()))
    return std::unexpected(errors::forbidden(fmt::format("{} leads to this machine", what)));
  return url;
}

Result<> Discovery::check_endpoints(const ServerMetadata& server) const {
  for (const std::string* url : {&server.authorization_endpoint, &server.token_endpoint, &server.registration_endpoint,
                                 &server.revocation_endpoint}) {
    if (url->empty()) continue;
    if (auto safe = named_url(*url, "an endpoint of the authorization server"); !safe)
      return std::unexpected(std::move(safe.error()));
  }
  return {};
}

Discovery::Discovery(net::Url endpoint, ChallengeHints hints, std::string issuer)
    : is_local_(net::is_loopback_host(endpoint.host()) || is_on_this_machine(issuer)), only_issuer_(std::move(issuer)) {
  found_.scopes = std::move(hints.scopes);
  found_.requires_dpop = hints.takes_only_dpop;
  // RFC 9728, section 3.1: a slash that only ends the host is not part of the identifier.
  const std::string_view target = endpoint.target() == "/" ? "" : endpoint.target();
  const std::string origin(endpoint.origin());
  found_.resource = target.empty() ? origin : endpoint.text();
  auto root = at_origin(endpoint, kWellKnown);
  if (!is_safe(endpoint)) {
    last_fault_ = errors::forbidden("the resource is not https, so no token is asked for");
    return;
  }
  if (!hints.resource_metadata.empty()) {
    auto named = named_url(hints.resource_metadata, "the resource_metadata of the challenge");
    if (!named) {
      last_fault_ = std::move(named.error());
      return;
    }
    Place place{.url = std::move(*named), .stands_for = {endpoint.text()}};
    if (root && place.url == *root) place.stands_for.push_back(origin + "/");
    places_.push_back(std::move(place));
    return;
  }
  if (!target.empty()) {
    if (auto place = at_origin(endpoint, fmt::format("{}{}", kWellKnown, target)))
      places_.push_back({.url = std::move(*place), .stands_for = {endpoint.text()}});
  }
  if (root) places_.push_back({.url = std::move(*root), .stands_for = {origin + "/"}});
}

Discovery Discovery::of_issuer(std::string issuer, std::string resource) {
  Discovery discovery;
  discovery.found_.resource = std::move(resource);
  discovery.is_local_ = is_on_this_machine(issuer);
  if (auto used = discovery.use_issuer(std::move(issuer)); !used) discovery.last_fault_ = std::move(used.error());
  return discovery;
}

Result<std::optional<FetchRequest>> Discovery::next() {
  if (is_done_) return std::nullopt;
  if (places_.empty() && !wants_server_ && !only_issuer_.empty() &&
      (!last_fault_ || last_fault_->kind() == ErrorKind::not_found)) {
    // The resource has no metadata, so the configured issuer counts.
    if (auto used = use_issuer(only_issuer_); !used) return std::unexpected(std::move(used.error()));
  }
  if (places_.empty())
    return std::unexpected(last_fault_.value_or(errors::not_found("there is no metadata about the authorization")));
  return FetchRequest{.url = places_.front().url, .redirects = Redirects::within_origin};
}

Result<> Discovery::take(Result<FetchAnswer> answer) {
  Result<> taken;
  if (!answer) {
    taken = std::unexpected(std::move(answer.error()));
  } else if (answer->status != 200) {
    std::string message = fmt::format("{} answered {}", places_.front().url.text(), answer->status);
    taken = std::unexpected(is_server_fault(answer->status) ? errors::unavailable(std::move(message))
                                                            : errors::not_found(std::move(message)));
  } else {
    taken = wants_server_ ? take_server(*answer) : take_resource(*answer);
  }
  if (taken) return {};
  if (is_final(taken.error()) || taken.error().kind() == ErrorKind::forbidden) return taken;
  // The final error reports a misleading document rather than a missing one.
  if (!last_fault_ || last_fault_->kind() == ErrorKind::not_found) last_fault_ = std::move(taken.error());
  places_.erase(places_.begin());
  return {};
}

Result<> Discovery::take_resource(const FetchAnswer& answer) {
  auto metadata = read_resource_metadata(answer.body);
  if (!metadata) return std::unexpected(std::move(metadata.error()).within(places_.front().url.text()));
  const auto resource = comparable_resource(metadata->resource);
  if (!resource || std::ranges::find(places_.front().stands_for, *resource) == places_.front().stands_for.end()) {
    return std::unexpected(
        errors::forbidden(fmt::format("the metadata at {} are about another resource: {}", places_.front().url.text(),
                                      log::printable(metadata->resource))));
  }
  found_.resource = std::move(metadata->resource);
  if (found_.scopes.empty()) found_.scopes = united({}, metadata->scopes);
  found_.requires_dpop = found_.requires_dpop || metadata->requires_dpop;
  const auto& servers = metadata->authorization_servers;
  if (!only_issuer_.empty()) {
    if (!has_text(servers, only_issuer_))
      return std::unexpected(errors::forbidden("the resource does not name the configured issuer"));
    return use_issuer(only_issuer_);
  }
  if (servers.empty()) return std::unexpected(errors::forbidden("the resource names no authorization server"));
  return use_issuer(servers.front());
}

Result<> Discovery::use_issuer(std::string issuer) {
  const auto url = named_url(issuer, "the issuer");
  if (!url) return std::unexpected(errors::forbidden(url.error().message()));
  // RFC 8414, section 2
  if (issuer.find_first_of("?#") != std::string::npos)
    return std::unexpected(errors::forbidden("an issuer has neither a query nor a fragment"));
  issuer_ = std::move(issuer);
  wants_server_ = true;
  last_fault_.reset();
  places_.clear();
  for (net::Url& place : metadata_urls(*url))
    places_.push_back({.url = std::move(place), .stands_for = {}});
  return {};
}

Result<> Discovery::take_server(const FetchAnswer& answer) {
  auto server = read_server_metadata(answer.body, issuer_);
  if (!server) return std::unexpected(std::move(server.error()).within(places_.front().url.text()));
  if (auto checked = check_endpoints(*server); !checked) return checked;
  found_.server = std::move(*server);
  is_done_ = true;
  return {};
}

Discovered Discovery::outcome() && { return std::move(found_); }

Scopes first_scopes(const Discovered& discovered, std::span<const std::string> configured, Offline offline) {
  Scopes scopes = united({}, configured.empty() ? std::span<const std::string>(discovered.scopes) : configured);
  if (offline == Offline::yes && discovered.may_refresh_offline())
    scopes = united(scopes, std::vector<std::string>{"offline_access"});
  return scopes;
}

}  // namespace proteus::auth::oauth
