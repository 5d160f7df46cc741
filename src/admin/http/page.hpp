#pragma once

#include <span>
#include <string>
#include <string_view>

#include "admin/http/page_files.hpp"
#include "admin/http/page_sessions.hpp"
#include "admin/http/router.hpp"
#include "admin/http/sign_in_code.hpp"
#include "net/http_server/exchange.hpp"

namespace proteus::admin {

// The page for operators, at /ui and below it. Its files are for everybody and hold nothing; what they show comes from
// the admin API, for who has signed in. Requests may come on any worker's thread.
class Page {
 public:
  static constexpr std::string_view kRoot = "/ui";
  static bool owns(std::string_view path) {
    return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
  }

  // All of it outlives the page; the version is that of the program.
  Page(std::span<const PageFile> files, PageSessions& sessions, const AdminAuth& auth, RefusalLog& refusals,
       const Clock& clock, std::string version)
      : files_(files),
        sessions_(sessions),
        auth_(auth),
        refusals_(refusals),
        code_(clock),
        version_(std::move(version)) {}

  // From any thread: a path, with a fragment that signs in as the holder of a key, once.
  std::string link_for(AdminAuth::KeyHolder holder) {
    return std::string(kRoot) + "/sign-in#" + code_.offer(std::move(holder));
  }

  // A path that it owns, of a request with an allowed Host.
  Task<> handle(net::Exchange& exchange);

 private:
  struct Entered {
    PageSessions::Session session;
    AdminAuth::KeyHolder holder;
  };

  Task<> reply_file(net::Exchange& exchange);
  Task<> sign_in(net::Exchange& exchange);
  Task<> sign_out(net::Exchange& exchange);
  Task<> show_session(net::Exchange& exchange);
  Task<> reply_session(net::Exchange& exchange, const Entered& entered);
  Task<> refuse(net::Exchange& exchange, RefusalReason reason, unsigned status, Error error);
  Result<Entered> find(const net::Request& request) const;
  // By what the body has: the secret of a key, or a code.
  Result<AdminAuth::KeyHolder> holder_in(std::string_view body);
  const PageFile* find_file(std::string_view path) const;

  const std::span<const PageFile> files_;
  PageSessions& sessions_;
  const AdminAuth& auth_;
  RefusalLog& refusals_;
  SignInCode code_;
  const std::string version_;
};

}  // namespace proteus::admin
