#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/definitions/kind.hpp"

// Scopes of access tokens (RFC 6749, section 3.3): which ones an entry needs, and which ones a caller has. Plain
// values.
namespace proteus::catalog {

// Whether a text is one valid scope: printable ASCII without spaces, quotes and backslashes.
bool is_scope(std::string_view text);

// Scopes, sorted and without duplicates.
using Scopes = std::vector<std::string>;
Scopes scopes_of(std::vector<std::string> written);

// Scopes that include other scopes, which may include more.
using ImpliedScopes = std::map<std::string, std::vector<std::string>, std::less<>>;

// The scopes that a token grants. Immutable.
class GrantedScopes {
 public:
  explicit GrantedScopes(std::vector<std::string> granted, const ImpliedScopes& implied = {});

  // Returns the scopes as the token has them.
  const Scopes& written() const { return written_; }
  // Whether the scope is granted, or included in a granted one.
  bool include(std::string_view scope) const;

 private:
  Scopes written_;
  Scopes all_;
};

// Returns the required scopes that are not granted.
Scopes missing_scopes(const Scopes& required, const GrantedScopes& granted);

// Returns the scopes that a client must request so that nothing is missing and nothing is lost: all required and all
// granted ones. Omits `offline_access`, which concerns only a client and its authorization server, and texts that are
// not valid scopes.
Scopes scopes_to_request(const Scopes& required, const GrantedScopes& granted);

// Entries of one provider, and the scopes that a caller needs to use them.
struct ScopeRule {
  std::vector<std::string> match;  // patterns of entries, by the provider's own names
  std::vector<std::string> scopes;
};

// The scopes that the entries of one provider require. Immutable.
class RequiredScopes {
 public:
  explicit RequiredScopes(const std::vector<ScopeRule>& rules);

  // Returns the scopes of all rules that fit. A URI is compared as written and in its plain spellings.
  Scopes of(Kind kind, std::string_view own) const;

 private:
  struct Rule {
    EntryPatterns match;
    std::vector<std::string> scopes;
  };

  std::vector<Rule> rules_;
};

}  // namespace proteus::catalog
