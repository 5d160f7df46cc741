#include "gateway/sign_in/pages.hpp"

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "base/text/visible_text.hpp"
#include "json/canonical.hpp"

namespace proteus::gateway::pages {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light "
    "dark;--ink:#1a1d23;--soft:#5b6270;--line:#d9dde4;--page:#f5f6f8;--card:#fff;--act:#1f5fd0}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8eaee;--soft:#9aa2b1;--line:#343a46;--page:#14171c;--card:#1d2128;"
    "--act:#7aa7ff}}"
    "*{box-sizing:border-box}"
    "body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--page);"
    "color:var(--ink);font:16px/1.5 system-ui,sans-serif}"
    "main{width:100%;max-width:34rem;background:var(--card);border:1px solid var(--line);border-radius:12px;"
    "padding:2rem}"
    "h1{margin:0 0 1rem;font-size:1.35rem;line-height:1.3}p{margin:0 0 1rem}"
    "dl{margin:0 0 1.5rem;border-top:1px solid var(--line)}"
    "dl div{padding:.6rem 0;border-bottom:1px solid var(--line)}"
    "dt{color:var(--soft);font-size:.85rem}dd{margin:0;overflow-wrap:anywhere}"
    "ul{margin:0;padding-left:1.2rem}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}"
    "label{display:block;color:var(--soft);font-size:.85rem;margin-bottom:.3rem}"
    "input[type=password]{width:100%;padding:.6rem .7rem;margin-bottom:1rem;border:1px solid var(--line);"
    "border-radius:8px;background:var(--page);color:var(--ink);font:inherit}"
    "button{padding:.6rem 1.1rem;border:1px solid var(--act);border-radius:8px;background:var(--act);"
    "color:var(--card);font:inherit;font-weight:600;cursor:pointer}"
    "button.quiet{background:none;color:var(--act)}"
    "button:focus-visible,input:focus-visible{outline:3px solid var(--act);outline-offset:2px}"
    ".note{color:var(--soft);font-size:.9rem}.wrong{font-weight:600}"
    ".row{display:flex;gap:.7rem;flex-wrap:wrap}";

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>{1}</style></head>"
      "<body><main><h1>{0}</h1>{2}</main></body></html>\n",
      escaped(title), kStyle, body);
}

std::string begin_form(const Form& form) {
  return fmt::format(R"(<form method="post" action="{}"><input type="hidden" name="form" value="{}">)",
                     escaped(form.action), escaped(form.token));
}

constexpr std::string_view kSecretInput =
    "<input type=\"password\" id=\"secret\" name=\"secret\" autocomplete=\"off\" required autofocus>";

std::string complaint(std::string_view what) {
  return what.empty() ? std::string() : fmt::format("<p class=\"wrong\" role=\"alert\">{}</p>", escaped(what));
}

std::string term(std::string_view name, std::string_view value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, escaped(value));
}

std::string scope_list(std::span<const std::string> scopes) {
  if (scopes.empty()) return "whatever it gives by itself";
  std::string out = "<ul>";
  for (const auto& scope : scopes)
    out += fmt::format("<li><code>{}</code></li>", escaped(scope));
  return out + "</ul>";
}

}  // namespace

const std::string& fields() {
  static const std::string lines = [] {
    const auto digest = json::sha256(kStyle);
    const std::string_view bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
    return fmt::format(
        "Content-Security-Policy: default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; frame-ancestors "
        "'none'\r\n"
        "X-Frame-Options: DENY\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n"
        "Cross-Origin-Opener-Policy: same-origin\r\nCache-Control: no-store\r\n",
        base64_encode(bytes));
  }();
  return lines;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string message(std::string_view title, std::string_view text) {
  return page(title, fmt::format("<p>{}</p>", escaped(text)));
}

std::string ask_for_any(const Form& form, std::span<const std::string> issuers, std::string_view again) {
  std::string body = fmt::format(
      "{}<p>See which servers this gateway uses in your name, and end what you no longer want.</p>", complaint(again));
  for (const auto& issuer : issuers) {
    body += fmt::format("{}<p><button name=\"issuer\" value=\"{}\">Sign in at {}</button></p></form>", begin_form(form),
                        escaped(issuer), escaped(issuer));
  }
  body += fmt::format("{}<label for=\"secret\">Your token for this gateway</label>{}<button>Continue</button></form>",
                      begin_form(form), kSecretInput);
  return page("Who are you?", body);
}

std::string ask_for_secret(const Form& form, Secret what, std::string_view again) {
  const bool is_token = what == Secret::token;
  return page(
      "Who is connecting?",
      fmt::format("{}<p>{}</p>{}<label for=\"secret\">{}</label>{}<button>Continue</button></form>", complaint(again),
                  is_token ? "A program asked to connect a server in your name. Show that it is you: enter the token "
                             "that the program uses with this gateway."
                           : "An operator asked to connect a server for everybody. Enter the admin key that it was "
                             "asked with.",
                  begin_form(form), is_token ? "Token" : "Admin key", kSecretInput));
}

std::string ask_for_identity(const Form& form, std::string_view issuer) {
  return page(
      "Who is connecting?",
      fmt::format("<p>A program asked to connect a server in your name. Sign in so that this gateway knows that "
                  "it is you.</p>{}<button>Sign in</button></form>"
                  "<p class=\"note\">You will be sent to <code>{}</code>.</p>",
                  begin_form(form), escaped(issuer)));
}

std::string consent(const Form& form, const Consent& about) {
  std::string terms = term("Signed in here as", about.person);
  terms += term("Server to connect", fmt::format("{} ({})", about.upstream, about.url));
  terms += term("Asked for by", about.client.empty() ? std::string("an operator of this gateway")
                                                     : fmt::format("{} (as the program calls itself)", about.client));
  terms += term(about.redirect_uri.empty() ? "Your sign-in is shown to" : "You will sign in at", about.server);
  terms += fmt::format("<div><dt>This gateway will be allowed</dt><dd>{}</dd></div>", scope_list(about.scopes));
  terms += term("It is known there as", about.client_id);
  if (!about.redirect_uri.empty()) terms += term("You will come back to", about.redirect_uri);
  return page(
      fmt::format("Connect {}?", about.upstream),
      fmt::format("<p>The gateway at <code>{}</code> will act for you at this server, and keep what it gets "
                  "sealed. The program never sees it.</p><dl>{}</dl>{}<div class=\"row\">"
                  "<button name=\"decision\" value=\"allow\">Continue</button>"
                  "<button name=\"decision\" value=\"deny\" class=\"quiet\">Do not connect</button></div></form>",
                  escaped(about.gateway), terms, begin_form(form)));
}

std::string connections(const Form& form, std::string_view person, std::span<const Connected> all) {
  std::string body = fmt::format("<p>Signed in here as {}.</p>", escaped(person));
  if (all.empty()) body += "<p>Nothing is connected.</p>";
  for (const auto& each : all) {
    body += fmt::format("<dl>{}{}{}<div><dt>Scopes</dt><dd>{}</dd></div>{}</dl>{}", term("Server", each.upstream),
                        term("Signed in at", each.server), term("Since", each.since), scope_list(each.scopes),
                        term("State", each.state), begin_form(form));
    body += fmt::format("<p><button class=\"quiet\" name=\"disconnect\" value=\"{}\">Disconnect {}</button></p></form>",
                        escaped(each.id), escaped(each.upstream));
  }
  return page("Connected servers", body);
}

}  // namespace proteus::gateway::pages
