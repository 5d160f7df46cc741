#include "gateway/sign_in/browser.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "base/text/base64.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kBrowserBound = "browser";
constexpr std::size_t kLongestCookie = 4096;
constexpr std::size_t kBrowserIdBytes = 18;

using Seconds = std::chrono::seconds;

// Returns nothing if there is no such cookie, or more than one, because then it is unclear which one counts.
std::optional<std::string_view> only_cookie(std::string_view cookies, std::string_view name) {
  std::optional<std::string_view> found;
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    const std::string_view one = trimmed(cookies.substr(0, end), " ");
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || one.substr(0, equals) != name) continue;
    if (found) return std::nullopt;
    found = one.substr(equals + 1);
  }
  return found;
}

}  // namespace

std::string_view Browsers::name() const {
  return scheme_() == Scheme::https ? "__Host-proteus_connect" : "proteus_connect";
}

std::optional<Browser> Browsers::find(std::string_view cookies) const {
  const auto value = only_cookie(cookies, name());
  if (!value || value->size() > kLongestCookie) return std::nullopt;
  const auto sealed = base64_decode(*value, Base64::url);
  const auto plain = sealed ? key_.open(*sealed, kBrowserBound) : std::nullopt;
  if (!plain) return std::nullopt;
  const auto parsed = boost::json::parse(*plain).as_object();
  Browser browser{.id = std::string(parsed.at("id").as_string()),
                  .until = Clock::Wall(Seconds(parsed.at("until").as_int64()))};
  if (browser.until <= clock_.wall()) return std::nullopt;
  if (const auto* key = parsed.if_contains("key")) {
    browser.person = Person{static_cast<Person::Kind>(parsed.at("kind").as_int64()), std::string(key->as_string()),
                            std::string(parsed.at("issuer").as_string())};
    browser.name = parsed.at("name").as_string();
  }
  return browser;
}

Browser Browsers::begin(std::optional<Person> person, std::string name) const {
  return {.id = base64_encode(random_bytes(kBrowserIdBytes), Base64::url),
          .person = std::move(person),
          .name = std::move(name),
          .until = std::chrono::time_point_cast<Seconds>(clock_.wall()) + kLifetime};
}

std::string Browsers::cookie(const Browser& browser) const {
  boost::json::object out{{"id", browser.id},
                          {"until", std::chrono::duration_cast<Seconds>(browser.until.time_since_epoch()).count()}};
  if (browser.person) {
    out["kind"] = static_cast<int>(browser.person->kind);
    out["key"] = browser.person->key;
    out["issuer"] = browser.person->issuer;
    out["name"] = browser.name;
  }
  // Lax, because the callback from an authorization server is a navigation from another site and must carry the cookie.
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Lax{}", name(),
                     base64_encode(key_.seal(boost::json::serialize(out), kBrowserBound), Base64::url),
                     std::chrono::duration_cast<Seconds>(kLifetime).count(),
                     scheme_() == Scheme::https ? "; Secure" : "");
}

std::string Browsers::form_token(const Browser& browser, std::string_view purpose) const {
  return base64_encode(key_.seal(browser.id, fmt::format("form\n{}", purpose)), Base64::url);
}

bool Browsers::is_own_form(const Browser& browser, std::string_view purpose, std::string_view token) const {
  if (token.size() > kLongestCookie) return false;
  const auto sealed = base64_decode(token, Base64::url);
  const auto plain = sealed ? key_.open(*sealed, fmt::format("form\n{}", purpose)) : std::nullopt;
  return plain && equal_in_constant_time(*plain, browser.id);
}

}  // namespace proteus::gateway
