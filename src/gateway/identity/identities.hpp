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
#include "base/published.hpp"
#include "base/refusal_log.hpp"
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

// How a request uses its token. All that is given outlives it.
auth::TokenUse use_of(const Credentials& given, const net::Request& request, std::string_view url,
                      std::span<const std::string> audiences);

// Callers for whom identity providers vouch: their tokens become principals by rules. Thread-safe.
class Identities {
 public:
  // Everything given outlives it. `home` is the thread that asks issuers, by `http`.
  Identities(const Executor& home, net::HttpClient& http, const Clock& clock, RefusalLog& refusals);

  // Replaces issuers and rules; one thread at a time. Where anything changed, principals from before are not kept.
  void set(IdentitySettings settings);
  // By which URL clients know us. One thread at a time, the same as `set`.
  void set_public_url(const net::Url& url);
  // On the home's thread: ends what is under way.
  Task<> close() { return verifier_.close(); }

  // Gives back what has ended. Any thread, every few seconds.
  void drop_unused() { verifier_.sweep(); }

  // Whether there are issuers.
  bool are_used() const { return !settings_.get()->issuers.empty(); }
  // Whether a principal that a rule made would be made now.
  bool keeps(const Principal& principal) const;
  // Whether a token says that it comes from one of the issuers: it is a caller's, and must not be sent elsewhere.
  bool names_issuer(std::string_view token) const { return verifier_.names_issuer(token); }

  // Works out what the rules leave of a snapshot, where they are in use, so that no request has to.
  void look_at(const catalog::SnapshotPointer& snapshot) const;

  // An operator, by a token for the admin API.
  struct Operator {
    std::string name;
    AdminRole role = AdminRole::none;
    Clock::Wall until;
    std::string issuer;
  };
  Task<std::expected<Operator, server::Refusal>> find_operator(const net::Request& request);

  // People who sign in at a page of ours: the gateway itself got their token from the issuer, for the plain endpoint
  // or for the admin API, and no request carries it. The same rules apply; the request is for the log, and outlives it.
  using Found = std::expected<std::shared_ptr<const Principal>, server::Refusal>;
  Task<Found> find_person(Secret token, const net::Request& request);
  Task<std::expected<Operator, server::Refusal>> find_operator(Secret token, const net::Request& request);
  // The issuers that the settings say how to sign in at.
  std::vector<std::string> sign_in_issuers() const;
  std::optional<auth::IssuerSettings> sign_in_at(std::string_view issuer) const;
  // What an operator's sign-in at an issuer depends on: another value where rules, or the client there, have changed.
  // Nothing where nobody can sign in there. The same in every process with the same configuration.
  std::optional<json::Digest> sign_in_digest(std::string_view issuer) const;
  std::vector<Rule> rules() const { return settings_.get()->rules; }
  // By which URL clients know us, without a slash at its end.
  std::string gateway_url() const { return settings_.get()->resources.gateway(); }
  Resources resources() const { return settings_.get()->resources; }

  // How a request to an endpoint is told which scopes it lacks: see mcp::lacks_scope.
  std::string challenge(std::string_view context, const Error& error) const;
  // The document of the resource that a path names (RFC 9728); nothing where it names none.
  std::optional<std::string> metadata_at(std::string_view path) const;
  // Which rule fits a set of claims, and why those before it do not, as JSON. For operators.
  Result<std::string> match(std::string_view claims) const;
  // Whom a token with these claims would make its holder. For operators.
  Result<std::shared_ptr<const Principal>> imagine(std::string_view claims) const;
  std::vector<auth::TokenVerifier::Status> status() const { return verifier_.status(); }

 private:
  friend class IdentityReader;

  struct Settings : IdentitySettings {
    std::uint64_t generation = 0;
    std::vector<std::string> scopes;                              // of all issuers: what clients are told to ask for
    std::vector<auth::Algorithm> dpop_algorithms;                 // none where proofs are off
    std::vector<std::shared_ptr<const Permissions>> permissions;  // one for each rule
    std::vector<catalog::ImpliedScopes> implied;                  // one for each issuer
    std::string rules_text;                                       // all of them
    Resources resources{*net::Url::parse("http://localhost")};
  };

  Found make_principal(const Settings& settings, const auth::Identity& identity, const net::Request& request) const;
  server::Refusal refuse(const Settings& settings, const net::Request& request, const std::string& resource,
                         const auth::Refusal& refusal) const;
  server::Refusal unknown(const Settings& settings, const net::Request& request, const std::string& resource) const;
  server::Refusal no_rule(const net::Request& request, const auth::Identity& identity) const;
  Task<std::expected<auth::IdentityPointer, server::Refusal>> verify(std::shared_ptr<const Settings> settings,
                                                                     Secret token, std::string resource,
                                                                     const net::Request& request);
  std::expected<Operator, server::Refusal> make_operator(const Settings& settings, const auth::Identity& identity,
                                                         const net::Request& request) const;

  const Clock& clock_;
  RefusalLog& refusals_;
  auth::TokenVerifier verifier_;
  Published<Settings> settings_;
};

}  // namespace proteus::gateway
