#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/http/page_files.hpp"
#include "admin/http/page_sessions.hpp"
#include "admin/http/router.hpp"
#include "admin/http/sign_in_code.hpp"
#include "gateway/sign_in/connect_site.hpp"
#include "net/http_server/exchange.hpp"

namespace proteus::admin {

// The page for operators, at /ui and below. Its files are public and contain no data. The data comes from the admin
// API, for operators who have signed in. Requests may come on any worker thread.
class Page {
 public:
  static constexpr std::string_view kRoot = "/ui";
  static bool owns(std::string_view path) {
    return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
  }

  // All references and `files` must outlive the page. `version` is that of the program.
  Page(std::span<const PageFile> files, PageSessions& sessions, AdminAuth& auth, RefusalLog& refusals,
       const Clock& clock, std::string version)
      : files_(files),
        sessions_(sessions),
        auth_(auth),
        refusals_(refusals),
        code_(clock),
        version_(std::move(version)) {}

  // Operators who sign in with an identity provider. Must be set before the first request; called on any worker thread.
  struct Providers {
    std::function<std::vector<std::string>()> issuers;
    // Returns the URL to which a browser on `path` of the page must go, and the cookie that it brings back. The request
    // must outlive the task.
    std::function<Task<Result<gateway::ConnectSite::Sent>>(const net::Request&, std::string issuer, std::string path)>
        send;
    struct Arrived {
      AdminAuth::KeyHolder holder;
      std::string path;
    };
    // Returns who came back, by a single-use code.
    std::function<std::optional<Arrived>(const net::Request&, std::string_view code)> take;
  };
  void set_providers(Providers providers) { providers_ = std::move(providers); }

  // Thread-safe. Returns a path whose fragment signs in, once, as the holder of a key.
  std::string link_for(AdminAuth::KeyHolder holder) {
    return std::string(kRoot) + "/sign-in#" + code_.offer(std::move(holder));
  }

  // `owns` must be true for the path, and the Host of the request must have been checked.
  Task<> handle(net::Exchange& exchange);

 private:
  struct Entered {
    PageSessions::Session session;
    AdminAuth::KeyHolder holder;
    std::string path = {};  // of the page, as opened before the sign-in
  };

  Task<> reply_file(net::Exchange& exchange);
  Task<> sign_in(net::Exchange& exchange);
  Task<> sign_out(net::Exchange& exchange);
  Task<> show_session(net::Exchange& exchange);
  Task<> reply_session(net::Exchange& exchange, const Entered& entered);
  Task<> refuse(net::Exchange& exchange, RefusalReason reason, unsigned status, Error error);
  Result<Entered> find(const net::Request& request) const;
  Task<> list_providers(net::Exchange& exchange);
  Task<> send_to_provider(net::Exchange& exchange, std::string issuer, std::string path);
  // Signs in with the secret of a key, or with a code. `key` says which of them `value` is.
  Result<Entered> enter(const net::Request& request, std::string_view key, std::string_view value);
  Result<AdminAuth::KeyHolder> holder_of_code(std::string_view code);
  const PageFile* find_file(std::string_view path) const;

  const std::span<const PageFile> files_;
  PageSessions& sessions_;
  AdminAuth& auth_;
  RefusalLog& refusals_;
  SignInCode code_;
  Providers providers_;
  const std::string version_;
};

}  // namespace proteus::admin
