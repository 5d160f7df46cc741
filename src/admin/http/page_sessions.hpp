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
#include "base/sealing.hpp"
#include "net/http_server/request.hpp"

namespace proteus::admin {

// Operators who signed in on the page: a sealed cookie stands for the key they showed, so that a browser need not keep
// its secret. A cookie knows neither ports nor who made the browser send it. It counts only on a request that the page
// itself sent, and for changes only together with a token that other pages cannot read. Thread-safe.
class PageSessions {
 public:
  static constexpr std::chrono::minutes kIdle{60};  // the page renews it while it is used
  static constexpr std::chrono::hours kLongest{12};
  // Whether a provider still vouches for somebody, only another sign-in can say.
  static constexpr std::chrono::hours kLongestVouched{1};
  static constexpr std::string_view kTokenField = "X-Proteus-Token";

  // `public_origin` is how browsers reach the gateway behind a proxy; empty: by the Host they name. The clock outlives
  // it.
  PageSessions(SealingKey key, std::string cookie_name, std::string public_origin, const Clock& clock);
  // With what follows from a master secret. The cookie's name does, too: gateways on one host keep theirs apart.
  static PageSessions derive(std::string_view master, std::string public_origin, const Clock& clock);

  struct Session {
    AdminAuth::KeyHolder holder;
    std::string token;  // that changes need
    Clock::Wall began;
    Clock::Wall until;
  };
  Session begin(const AdminAuth::KeyHolder& holder) const;
  // The same session for longer, up to its end.
  Session renewed(Session session) const;
  void end(const Session& session);

  // Whether the request brings a cookie of that name, good or not.
  bool has_cookie(const net::Request& request) const;
  // Of the first cookie that is good. Says nothing about who sent it.
  std::optional<Session> find(const net::Request& request) const;
  // Whether the page sent the request; the error says why it does not seem so.
  Result<> check_page(const net::Request& request) const;
  // Whether it has the token.
  static Result<> check_token(const net::Request& request, const Session& session);

  // Lines of a head.
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
  std::unordered_map<std::string, Clock::Wall> ended_;  // by token, until they would have ended anyway
};

}  // namespace proteus::admin
