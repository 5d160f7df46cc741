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
#include "base/refusal_log.hpp"
#include "server/http/admission.hpp"

namespace proteus::admin {

// Answers requests to /admin and below it: who is it, what do they want. Without the right X-Admin-Secret, or a session
// of the page, nothing is looked at. Requests may come on any worker's thread.
class Router {
 public:
  static constexpr std::string_view kRoot = "/admin";
  static bool owns(std::string_view path) {
    return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
  }

  // What handlers refer to outlives it, and so does the log of refusals. GET /admin, the list of them all, comes by
  // itself.
  Router(Routes routes, AdminKeys keys, RefusalLog& refusals);

  // Any thread: those who may come in from the next request on. Streams of others end.
  void set_keys(AdminKeys keys) { auth_.set_keys(std::move(keys)); }
  // Any thread, every few seconds: streams of operators whose tokens have ended end.
  void end_expired(Clock::Wall now) { auth_.end_expired(now); }
  // Operators who are known by a token of an identity provider. Set before anything is asked.
  struct Operator {
    std::string name;
    Role role;
    Clock::Wall until = Clock::Wall::max();  // when the token ends; streams end with it
    std::string issuer = {};
  };
  struct Doorkeeper {
    std::function<bool()> is_there;  // whether there are such operators at all
    std::function<Task<std::expected<Operator, server::Refusal>>(const net::Request&)> find;
  };
  void set_doorkeeper(Doorkeeper doorkeeper) { doorkeeper_ = std::move(doorkeeper); }
  // Waits until what was changed holds everywhere, and gives fields of the answer that say so. Set before anything is
  // asked.
  using Settle = std::function<Task<std::string>()>;
  void set_settle(Settle settle) { settle_ = std::move(settle); }
  // Any thread: the name of a key that may change things, by its secret.
  std::optional<std::string> name_of_key(std::string_view secret) const;
  // Operators who signed in on the page. Set before anything is asked; outlives it.
  void set_page_sessions(const PageSessions& sessions) { page_sessions_ = &sessions; }
  const AdminAuth& auth() const { return auth_; }
  // See AdminAuth::set_vouching.
  void set_vouching(AdminAuth::Vouching vouching) { auth_.set_vouching(std::move(vouching)); }
  // Whether a request brings the secret of a key; one that does not is refused.
  bool knows(const net::Request& request) const;

  Task<> handle(net::Exchange& exchange);

 private:
  struct Found {
    const Route* route = nullptr;
    AdminRequest::Variables variables;
    std::string allowed;  // methods there are at the path; empty where there is no such path
  };

  std::optional<AdminAuth::KeyHolder> visitor_of(const net::Request& request) const;
  Result<AdminAuth::KeyHolder> signed_in(const net::Request& request) const;
  // Who it is, or how it is turned away.
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
