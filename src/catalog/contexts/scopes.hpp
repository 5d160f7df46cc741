#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/definitions/kind.hpp"

// Scopes of access tokens (RFC 6749, 3.3): which of them an entry needs, and which a caller has. Plain values.
namespace proteus::catalog {

// Whether a text is one scope: printable, without spaces, quotes and backslashes.
bool is_scope(std::string_view text);

// In order, each once.
using Scopes = std::vector<std::string>;
Scopes scopes_of(std::vector<std::string> written);

// Scopes that include others, which may include more.
using ImpliedScopes = std::map<std::string, std::vector<std::string>, std::less<>>;

// What a token grants. Immutable.
class GrantedScopes {
 public:
  explicit GrantedScopes(std::vector<std::string> granted, const ImpliedScopes& implied = {});

  // As the token says them.
  const Scopes& written() const { return written_; }
  // Whether it is granted, or included in one that is.
  bool include(std::string_view scope) const;

 private:
  Scopes written_;
  Scopes all_;
};

// Of those that are required, the ones that are not granted.
Scopes missing_scopes(const Scopes& required, const GrantedScopes& granted);

// What a client has to ask for so that nothing is missing and nothing is lost: all that is required and all that was
// granted. Never `offline_access`, which is between a client and its authorization server, and nothing that is no
// scope.
Scopes scopes_to_request(const Scopes& required, const GrantedScopes& granted);

// Entries of one provider, and the scopes that using them takes.
struct ScopeRule {
  std::vector<std::string> match;  // patterns of entries, by the provider's own names
  std::vector<std::string> scopes;
};

// The scopes that the entries of one provider require. Immutable.
class RequiredScopes {
 public:
  explicit RequiredScopes(const std::vector<ScopeRule>& rules);

  // All of every rule that fits. A URI is compared as it is written and as it may be read.
  Scopes of(Kind kind, std::string_view own) const;

 private:
  struct Rule {
    EntryPatterns match;
    std::vector<std::string> scopes;
  };

  std::vector<Rule> rules_;
};

}  // namespace proteus::catalog
