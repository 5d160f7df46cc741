#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/http/admin_auth.hpp"
#include "admin/http/keys.hpp"
#include "admin/http/page_sessions.hpp"
#include "admin/http/route.hpp"
#include "base/log/refusal_log.hpp"
#include "server/http/admission.hpp"

namespace proteus::admin {

// Answers requests to /admin and below: authenticates the operator, finds the route and runs its handler. Examines
// nothing else of a request before its key, token or page session is valid. Requests may come on any worker thread.
class Router {
 public:
  static constexpr std::string_view kRoot = "/admin";
  static bool owns(std::string_view path) {
    return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
  }

  // `refusals`, and whatever the handlers refer to, must outlive the router. Adds GET /admin, which lists all routes.
  Router(Routes routes, AdminKeys keys, RefusalLog& refusals);

  // Thread-safe. Replaces the keys from the next request on, and ends streams of other keys.
  void set_keys(AdminKeys keys) { auth_.set_keys(std::move(keys)); }
  // Thread-safe; to be called every few seconds. Ends streams of operators whose access has expired.
  void end_expired(Clock::Wall now) { auth_.end_expired(now); }
  // Thread-safe. Ends streams of operators whose access was withdrawn; to be called after the rules have changed.
  void end_withdrawn() { auth_.end_withdrawn(); }
  // An operator with a token of an identity provider.
  struct Operator {
    std::string name;
    Role role;
    Clock::Wall until = Clock::Wall::max();  // expiry of the token; streams end with it
    std::string issuer = {};
    json::Digest digest = {};  // see AdminAuth::Vouching
  };
  // Finds such operators. Must be set before the first request.
  struct Doorkeeper {
    std::function<bool()> is_there;  // whether there can be such operators
    std::function<Task<std::expected<Operator, server::Refusal>>(const net::Request&)> find;
  };
  void set_doorkeeper(Doorkeeper doorkeeper) { doorkeeper_ = std::move(doorkeeper); }
  // Waits until all processes have applied a change, and returns header fields that say how many have. Must be set
  // before the first request.
  using Settle = std::function<Task<std::string>()>;
  void set_settle(Settle settle) { settle_ = std::move(settle); }
  // Thread-safe. Returns the name of the key with this secret; nothing if there is none, or for a viewer's.
  std::optional<std::string> name_of_key(std::string_view secret) const;
  // Admits operators who signed in on the page. Must be set before the first request, and outlive the router.
  void set_page_sessions(const PageSessions& sessions) {
    page_sessions_ = &sessions;
    auth_.set_has_ended([&sessions](const std::string& session) { return sessions.has_ended(session); });
  }
  AdminAuth& auth() { return auth_; }
  // See AdminAuth::set_vouching.
  void set_vouching(AdminAuth::Vouching vouching) { auth_.set_vouching(std::move(vouching)); }
  // Whether a request has the secret of a key. Reports a refusal otherwise.
  bool knows(const net::Request& request) const;

  Task<> handle(net::Exchange& exchange);

 private:
  struct Found {
    const Route* route = nullptr;
    AdminRequest::Variables variables;
    std::string allowed;  // methods of the path; empty if there is no such path
  };

  std::optional<AdminAuth::KeyHolder> key_holder_of(const net::Request& request) const;
  Result<AdminAuth::KeyHolder> signed_in(const net::Request& request) const;
  // Returns the operator, or how to reject the request.
  Task<std::expected<AdminAuth::KeyHolder, server::Refusal>> let_in(const net::Request& request) const;
  Found find(std::string_view method, std::string_view path) const;
  std::string write_help() const;

  Routes routes_;
  std::string help_;
  AdminAuth auth_;
  RefusalLog& refusals_;
  Doorkeeper doorkeeper_;
  const PageSessions* page_sessions_ = nullptr;
  Settle settle_;
};

}  // namespace proteus::admin
