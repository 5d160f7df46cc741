#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/issuers/kept_by_token.hpp"
#include "auth/issuers/token_verifier.hpp"
#include "base/log/refusal_log.hpp"
#include "base/published.hpp"
#include "gateway/callers/credentials.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/identity/resources.hpp"
#include "gateway/identity/rule.hpp"
#include "net/http_server/request.hpp"
#include "server/http/admission.hpp"

namespace proteus::gateway {

struct IdentitySettings {
  std::vector<auth::IssuerSettings> issuers;
  std::vector<Rule> rules;

  friend bool operator==(const IdentitySettings&, const IdentitySettings&) = default;
};

// Returns how a request uses its token. All arguments must outlive the result.
auth::TokenUse use_of(const Credentials& given, const net::Request& request, std::string_view url,
                      std::span<const std::string> audiences);

// Callers for whom identity providers vouch: rules turn their tokens into principals. Thread-safe.
class Identities {
 public:
  // All references must outlive it. Requests to issuers run on the thread `home`, by `http`.
  Identities(const Executor& home, net::HttpClient& http, const Clock& clock, RefusalLog& refusals);

  // Replaces issuers and rules. If anything changed, withdraws all earlier principals, and `keeps` is false for them.
  // To be called by one thread at a time.
  void set(IdentitySettings settings);
  // Sets the URL by which clients know the gateway. To be called by one thread at a time, and not during `set`.
  void set_public_url(const net::Url& url);
  // To be called on the home's thread. Cancels what is under way.
  Task<> close() { return verifier_.close(); }

  // Drops what has expired. To be called every few seconds.
  void drop_unused() { verifier_.sweep(); }

  // Whether there are issuers.
  bool are_used() const { return !settings_.get()->issuers.empty(); }
  // Whether a principal was made by the present rules.
  bool keeps(const Principal& principal) const;
  // Whether a token claims to come from one of the issuers. Such a token belongs to a caller and must not be sent
  // elsewhere.
  bool names_issuer(std::string_view token) const { return verifier_.names_issuer(token); }

  // Derives in advance what rules that are in use leave of a snapshot, so that no request has to.
  void look_at(const catalog::SnapshotPointer& snapshot) const;

  // An operator, as identified by a token for the admin API.
  struct Operator {
    std::string name;
    AdminRole role = AdminRole::none;
    Clock::Wall until;
    std::string issuer;
    json::Digest digest = {};  // see `operator_digest`
  };
  Task<std::expected<Operator, server::Refusal>> find_operator(const net::Request& request);

  // Identify people who sign in at a page of the gateway. The gateway itself got their token from the issuer, for the
  // plain endpoint or for the admin API, and no request carries it. The same rules apply. The request is for the log,
  // and must outlive the task.
  using Found = std::expected<std::shared_ptr<const Principal>, server::Refusal>;
  Task<Found> find_person(Secret token, const net::Request& request);
  Task<std::expected<Operator, server::Refusal>> find_operator(Secret token, const net::Request& request);
  // Returns the issuers at which people can sign in, by the settings.
  std::vector<std::string> sign_in_issuers() const;
  std::optional<auth::IssuerSettings> sign_in_at(std::string_view issuer) const;
  // Returns a digest of what the access of an issuer's operators depends on: it changes with the rules and with the
  // client for sign-ins, and is the same in every process with the same configuration. Returns nothing if there is no
  // such issuer.
  std::optional<json::Digest> operator_digest(std::string_view issuer) const;
  std::vector<Rule> rules() const { return settings_.get()->rules; }
  // Returns the URL by which clients know the gateway, without a slash at its end.
  std::string gateway_url() const { return settings_.get()->resources.gateway(); }
  Resources resources() const { return settings_.get()->resources; }

  // Returns the challenge for an error of a request to an endpoint. It names the scopes that the token lacks, if that
  // is the error; see mcp::lacks_scope.
  std::string challenge(std::string_view context, const Error& error) const;
  // Returns the metadata of the resource that a path names (RFC 9728); nothing if the path names none, or if there are
  // no issuers.
  std::optional<std::string> metadata_at(std::string_view path) const;
  // Returns which rule fits a set of claims, and why those before it do not, as JSON. For operators.
  Result<std::string> match(std::string_view claims) const;
  // Returns the principal that a token with these claims would get. For operators.
  Result<std::shared_ptr<const Principal>> imagine(std::string_view claims) const;
  std::vector<auth::TokenVerifier::Status> status() const { return verifier_.status(); }

 private:
  friend class IdentityReader;

  struct Settings : IdentitySettings {
    std::uint64_t generation = 0;
    std::vector<std::string> scopes;                              // of all issuers, for clients to request
    std::vector<auth::Algorithm> dpop_algorithms;                 // empty if proofs are off
    std::vector<std::shared_ptr<const Permissions>> permissions;  // one for each rule
    std::vector<catalog::ImpliedScopes> implied;                  // one for each issuer
    std::string rules_text;                                       // of all rules
    auth::TokenVerifier::Issuers known;                           // the issuers, with their keys
    std::shared_ptr<const server::Grant> basis = std::make_shared<const server::Grant>();  // of all principals
    Resources resources{*net::Url::parse("http://localhost")};
  };

  std::shared_ptr<const Settings> first_settings() const;
  Found make_principal(const Settings& settings, const auth::Identity& identity, const net::Request& request) const;
  server::Refusal refuse(const Settings& settings, const net::Request& request, const std::string& resource,
                         const auth::Refusal& refusal) const;
  server::Refusal unknown(const Settings& settings, const net::Request& request, const std::string& resource) const;
  server::Refusal no_rule(const net::Request& request, const auth::Identity& identity) const;
  Task<std::expected<auth::IdentityPointer, server::Refusal>> verify(std::shared_ptr<const Settings> settings,
                                                                     Secret token, std::string resource,
                                                                     const net::Request& request);
  static std::optional<json::Digest> operator_digest(const Settings& settings, std::string_view issuer);
  std::expected<Operator, server::Refusal> make_operator(const Settings& settings, const auth::Identity& identity,
                                                         const net::Request& request) const;

  const Clock& clock_;
  RefusalLog& refusals_;
  auth::TokenVerifier verifier_;
  Published<Settings> settings_;
};

}  // namespace proteus::gateway
