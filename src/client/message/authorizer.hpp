#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "net/http/url.hpp"

namespace proteus::client {

// A 401 or 403.
struct Refusal {
  int status = 0;
  std::string_view challenge = {};   // WWW-Authenticate
  std::string_view dpop_nonce = {};  // DPoP-Nonce
  // What the request was sent with: where that is not what would be sent now, somebody else was refused first.
  std::span<const std::pair<std::string, std::string>> sent = {};
};

// Who provides the credentials of HTTP requests to one server. They are sent to the server's own origin only.
// Called on the connection's thread; may be shared between connections of one thread.
class Authorizer {
 public:
  // How often one request is sent again: for new credentials, a nonce, and a wider scope.
  static constexpr int kMaxAgain = 3;

  virtual ~Authorizer() = default;

  // The headers to send with this request, such as `Authorization`.
  virtual Task<Result<std::vector<std::pair<std::string, std::string>>>> headers(std::string_view method,
                                                                                 const net::Url& url) = 0;
  // The same where that needs no waiting; nothing where it does.
  virtual std::optional<std::vector<std::pair<std::string, std::string>>> headers_now(std::string_view /*method*/,
                                                                                      const net::Url& /*url*/) {
    return std::nullopt;
  }

  // The server refused them. True where others are there now: the request is sent again. The views hold during the
  // await.
  virtual Task<Result<bool>> refused(Refusal refusal) = 0;

  // The server answered otherwise; perhaps with a nonce for the next proof.
  virtual void accepted(std::string_view /*dpop_nonce*/) {}
};

}  // namespace proteus::client
