#include "admin/http/page_sessions.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "base/text/base64.hpp"
#include "json/text.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::admin {
namespace {

constexpr std::string_view kBound = "page session 2";
constexpr std::string_view kFetchSite = "Sec-Fetch-Site";
constexpr std::size_t kMostTried = 8;  // other servers on the host may set cookies of this name
constexpr std::size_t kMostEnded = 100'000;

std::int64_t seconds_of(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}
Clock::Wall time_of(std::int64_t seconds) { return Clock::Wall(std::chrono::seconds(seconds)); }

// Calls `take` with each value of the cookie until it returns true.
template <class Take>
bool any_cookie(const net::Request& request, std::string_view name, Take take) {
  for (const auto& field : request.fields()) {
    if (!net::same_field_name(field.name, "Cookie")) continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      const std::string_view pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const std::string_view cookie = trimmed(pair, " ");
      const bool named = cookie.size() > name.size() && cookie.starts_with(name) && cookie[name.size()] == '=';
      if (named && take(cookie.substr(name.size() + 1))) return true;
    }
  }
  return false;
}

std::string write(const PageSessions::Session& session) {
  const json::Digest& digest = session.holder.digest;
  return boost::json::serialize(
      boost::json::object{{"name", session.holder.name},
                          {"digest", base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()})},
                          {"role", session.holder.role == Role::admin ? "admin" : "viewer"},
                          {"issuer", session.holder.issuer},
                          {"token", session.token},
                          {"began", seconds_of(session.began)},
                          {"until", seconds_of(session.until)}});
}

// `text` was sealed, so it is valid.
PageSessions::Session read(std::string_view text) {
  const boost::json::value parsed = json::parse(text).value();
  const std::string issuer = parsed.at("issuer").as_string().c_str();
  PageSessions::Session session{.holder = {.name = parsed.at("name").as_string().c_str(),
                                           .digest = {},
                                           .role = parsed.at("role") == "admin" ? Role::admin : Role::viewer,
                                           .is_vouched_for = !issuer.empty(),
                                           .issuer = issuer},
                                .token = parsed.at("token").as_string().c_str(),
                                .began = time_of(parsed.at("began").as_int64()),
                                .until = time_of(parsed.at("until").as_int64())};
  const std::string digest = base64_decode(parsed.at("digest").as_string()).value();
  std::ranges::copy(digest, session.holder.digest.begin());
  return session;
}

}  // namespace

PageSessions::PageSessions(SealingKey key, std::string cookie_name, std::string public_origin, const Clock& clock)
    : key_(key), name_(std::move(cookie_name)), public_origin_(std::move(public_origin)), clock_(clock) {}

PageSessions PageSessions::derive(std::string_view master, std::string public_origin, const Clock& clock) {
  const std::string suffix = base64_encode(derive_bytes(master, "page cookie name", 6), Base64::url);
  return {SealingKey::derive(master, "page sessions"), "proteus-" + suffix, std::move(public_origin), clock};
}

PageSessions::Session PageSessions::begin(const AdminAuth::KeyHolder& holder) const {
  const Clock::Wall now = clock_.wall();
  return {.holder = holder, .token = base64_encode(random_bytes(24), Base64::url), .began = now, .until = now + kIdle};
}

PageSessions::Session PageSessions::renewed(Session session) const {
  const auto longest = session.holder.is_vouched_for ? kLongestVouched : kLongest;
  session.until = std::min(clock_.wall() + kIdle, session.began + longest);
  return session;
}

void PageSessions::end(const Session& session) {
  const std::scoped_lock lock(mutex_);
  const Clock::Wall now = clock_.wall();
  std::erase_if(ended_, [&](const auto& one) { return one.second <= now; });
  if (ended_.size() < kMostEnded) ended_.emplace(session.token, session.began + kLongest);
}

bool PageSessions::has_ended(const std::string& token) const {
  const std::scoped_lock lock(mutex_);
  return ended_.contains(token);
}

bool PageSessions::has_cookie(const net::Request& request) const {
  return any_cookie(request, name_, [](std::string_view) { return true; });
}

std::optional<PageSessions::Session> PageSessions::open(std::string_view sealed) const {
  const auto bytes = base64_decode(sealed, Base64::url);
  const auto plain = bytes ? key_.open(*bytes, kBound) : std::nullopt;
  if (!plain) return std::nullopt;
  Session session = read(*plain);
  const Clock::Wall now = clock_.wall();
  if (session.until <= now || session.began > now + std::chrono::minutes(1)) return std::nullopt;
  return has_ended(session.token) ? std::nullopt : std::optional(std::move(session));
}

std::optional<PageSessions::Session> PageSessions::find(const net::Request& request) const {
  std::optional<Session> found;
  std::size_t tried = 0;
  any_cookie(request, name_, [&](std::string_view value) {
    found = open(value);
    return found || ++tried == kMostTried;
  });
  return found;
}

bool PageSessions::is_own_origin(const net::Request& request, std::string_view origin) const {
  if (!public_origin_.empty() && origin == public_origin_) return true;
  const auto host = request.fields().find("Host");
  return host && !host->empty() && origin == fmt::format("{}://{}", request.is_tls() ? "https" : "http", *host);
}

// The browser itself sets Origin and Sec-Fetch-Site; no page can change them. Over plain HTTP beyond loopback it sends
// no Sec-Fetch-Site, and a GET to the same origin has no Origin.
Result<> PageSessions::check_page(const net::Request& request) const {
  const auto& fields = request.fields();
  if (fields.count("Origin") > 1 || fields.count(kFetchSite) > 1 || fields.count("Host") != 1)
    return std::unexpected(errors::forbidden("a cookie counts only with one Host, Origin and Sec-Fetch-Site"));
  const auto origin = fields.find("Origin");
  const auto site = fields.find(kFetchSite);
  if (origin && !is_own_origin(request, *origin))
    return std::unexpected(errors::forbidden("a cookie counts only on requests of the gateway's own page"));
  if (site && *site != "same-origin")
    return std::unexpected(errors::forbidden("a cookie counts only on requests of the same origin"));
  if (!origin && !site) {
    return std::unexpected(
        errors::forbidden("a cookie counts only where the browser says which page sends it: over TLS, or on loopback"));
  }
  return {};
}

Result<> PageSessions::check_token(const net::Request& request, const Session& session) {
  const auto& fields = request.fields();
  const auto given = fields.count(kTokenField) == 1 ? fields.find(kTokenField) : std::nullopt;
  if (given && equal_in_constant_time(*given, session.token)) return {};
  return std::unexpected(errors::forbidden(fmt::format("with a cookie, a change needs the {} header", kTokenField)));
}

// Limits the cookie to these paths, so that fewer other servers on the host receive it.
std::string PageSessions::cookie_line(const net::Request& request, std::string_view value,
                                      std::chrono::seconds age) const {
  const bool secure = request.is_tls() || public_origin_.starts_with("https:");
  std::string lines;
  for (const std::string_view path : {"/admin", "/ui"}) {
    net::append_field(lines, "Set-Cookie",
                      fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite=Strict{}", name_, value, path,
                                  age.count(), secure ? "; Secure" : ""));
  }
  return lines;
}

std::string PageSessions::set_cookie(const net::Request& request, const Session& session) const {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(session.until - clock_.wall());
  return cookie_line(request, base64_encode(key_.seal(write(session), kBound), Base64::url), age);
}

std::string PageSessions::clear_cookie(const net::Request& request) const {
  return cookie_line(request, "", std::chrono::seconds(0));
}

}  // namespace proteus::admin
