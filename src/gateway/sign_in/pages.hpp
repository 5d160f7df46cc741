#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// What people see in their browser: plain pages without scripts. Everything that is given is text, from whomever, and
// is escaped here.
namespace proteus::gateway::pages {

// The security fields of every page, whole lines. Nothing may run, be loaded, or frame it; the styles are known by
// their hash. Where a form leads is not limited: browsers hold that against each redirect on the way to an
// authorization server, whose own redirects nobody here knows.
const std::string& fields();

// A text as it can stand in an element or an attribute.
std::string escaped(std::string_view text);

// Something to read.
std::string message(std::string_view title, std::string_view text);

// A hidden field, so that no other site can post the form.
struct Form {
  std::string_view action;
  std::string_view token;
};

// Who is there? By a token or an admin key of theirs; `again` says what was wrong with the last one.
enum class Secret : bool { token, admin_key };
std::string ask_for_secret(const Form& form, Secret what, std::string_view again = {});
// By a sign-in at their identity provider.
std::string ask_for_identity(const Form& form, std::string_view issuer);
// The same where anybody with a token, or of one of these identity providers, is welcome.
std::string ask_for_any(const Form& form, std::span<const std::string> issuers, std::string_view again = {});

struct Consent {
  std::string_view person;
  std::string_view upstream;
  std::string_view url;                 // of the upstream
  std::string_view client;              // the program that asked, as it calls itself; empty where nobody knows
  std::string_view gateway;             // by which URL it is known
  std::string_view server;              // the authorization server that they are sent to
  std::string_view client_id;           // by which it knows the gateway
  std::string_view redirect_uri;        // where it sends them back; empty where they are sent nowhere
  std::span<const std::string> scopes;  // none: the server's own choice
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
// What somebody has connected, each with a form that ends it.
std::string connections(const Form& form, std::string_view person, std::span<const Connected> all);

}  // namespace proteus::gateway::pages
