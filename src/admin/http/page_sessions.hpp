#pragma once

#include <chrono>
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <proteus/error.hpp>

#include "admin/http/admin_auth.hpp"
#include "base/clock.hpp"
#include "base/secrets/sealing.hpp"
#include "net/http_server/request.hpp"

namespace proteus::admin {

// Sessions of operators who signed in on the page. A sealed cookie stands for the key, so that a browser need not keep
// the secret. Cookies go to all ports of a host, and with requests that any page causes. So a cookie counts only on a
// request that the page itself sent, and for changes only with a token that other pages cannot read. Thread-safe.
class PageSessions {
 public:
  static constexpr std::chrono::minutes kIdle{60};  // the page renews its session while in use
  static constexpr std::chrono::hours kLongest{12};
  // Only a new sign-in can show whether an identity provider still vouches for a person.
  static constexpr std::chrono::hours kLongestVouched{1};
  static constexpr std::string_view kTokenField = "X-Proteus-Token";

  // `public_origin` is the origin of the gateway as browsers behind a proxy see it; if empty, the Host of each request
  // determines the origin. The clock must outlive this object.
  PageSessions(SealingKey key, std::string cookie_name, std::string public_origin, const Clock& clock);
  // Derives the key and the cookie name from a master secret. Different names keep gateways on one host apart.
  static PageSessions derive(std::string_view master, std::string public_origin, const Clock& clock);

  struct Session {
    AdminAuth::KeyHolder holder;
    std::string token;  // required for changes
    Clock::Wall began;
    Clock::Wall until;
  };
  Session begin(const AdminAuth::KeyHolder& holder) const;
  // Returns the session with a later expiry, but at most its longest lifetime.
  Session renewed(Session session) const;
  // Rejects the session from now on, in this process only.
  void end(const Session& session);
  // Whether `end` was called for the session with this token.
  bool has_ended(const std::string& token) const;

  // Whether the request has a cookie of this name, valid or not.
  bool has_cookie(const net::Request& request) const;
  // Returns the session of the first valid cookie. Does not check who sent the request.
  std::optional<Session> find(const net::Request& request) const;
  // Fails unless the browser states that the page sent the request. The error says why.
  Result<> check_page(const net::Request& request) const;
  // Fails unless the request has the session's token.
  static Result<> check_token(const net::Request& request, const Session& session);

  // Return lines of the response head.
  std::string set_cookie(const net::Request& request, const Session& session) const;
  std::string clear_cookie(const net::Request& request) const;

 private:
  std::optional<Session> open(std::string_view sealed) const;
  std::string cookie_line(const net::Request& request, std::string_view value, std::chrono::seconds age) const;
  bool is_own_origin(const net::Request& request, std::string_view origin) const;

  const SealingKey key_;
  const std::string name_;
  const std::string public_origin_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Clock::Wall> ended_;  // by token, until they would have expired anyway
};

}  // namespace proteus::admin
