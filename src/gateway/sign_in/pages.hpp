#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The pages in the user's browser, in plain HTML without scripts. All parameters are untrusted text, which is escaped
// here.
namespace proteus::gateway::pages {

// Returns the security header fields of every page, as whole lines. They forbid scripts, loading and framing; the
// styles are allowed by their hash. There is no `form-action`: browsers apply it to each redirect on the way to an
// authorization server, and that server's own redirects are unknown.
const std::string& fields();

// Returns a text that is safe in an element or an attribute.
std::string escaped(std::string_view text);

// A page with a title and a text.
std::string message(std::string_view title, std::string_view text);

// Where a form is posted, and its hidden token, without which no other site can post it.
struct Form {
  std::string_view action;
  std::string_view token;
};

// A page that asks who the user is, by a token or an admin key. `again` says what was wrong with the last attempt.
enum class Secret : bool { token, admin_key };
std::string ask_for_secret(const Form& form, Secret what, std::string_view again = {});
// A page that asks who the user is, by a sign-in at their identity provider.
std::string ask_for_identity(const Form& form, std::string_view issuer);
// A page that asks who the user is and accepts any token, or a sign-in at any of these identity providers.
std::string ask_for_any(const Form& form, std::span<const std::string> issuers, std::string_view again = {});

struct Consent {
  std::string_view person;
  std::string_view upstream;
  std::string_view url;                 // of the upstream
  std::string_view client;              // name that the requesting program gives itself; empty if unknown
  std::string_view gateway;             // URL of the gateway
  std::string_view server;              // authorization server that the user is sent to
  std::string_view client_id;           // client id of the gateway at that server
  std::string_view redirect_uri;        // where that server sends the user back; empty if the user is sent nowhere
  std::span<const std::string> scopes;  // empty: the server's own choice
};
std::string consent(const Form& form, const Consent& about);

struct Connected {
  std::string id;
  std::string upstream;
  std::string server;
  std::string since;
  std::string state;
  std::vector<std::string> scopes;
};
// A page with everything that somebody has connected, each with a form to disconnect it.
std::string connections(const Form& form, std::string_view person, std::span<const Connected> all);

}  // namespace proteus::gateway::pages
