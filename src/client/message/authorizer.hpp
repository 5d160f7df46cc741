#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/message/ready_headers.hpp"
#include "net/http/url.hpp"

namespace proteus::client {

// A response with status 401 or 403.
struct Refusal {
  int status = 0;
  std::string_view challenge = {};   // WWW-Authenticate
  std::string_view dpop_nonce = {};  // DPoP-Nonce
  // The credentials that the request carried. If they differ from the current ones, another request was refused before.
  std::span<const Header> sent = {};
};

// Provides the credentials of HTTP requests to one server. They are sent only to the server's own origin. Called on the
// connection's thread. Connections of one thread may share an authorizer; connections of several threads may share it
// if the implementation is thread-safe.
class Authorizer {
 public:
  // How often one request may be repeated: for new credentials, a nonce, and a wider scope.
  static constexpr int kMaxAgain = 3;

  virtual ~Authorizer() = default;

  // Returns the headers to send with this request, such as `Authorization`.
  virtual Task<Result<std::vector<Header>>> headers(std::string_view method, const net::Url& url) = 0;
  // Returns what `headers` would return; null if that needs waiting.
  virtual ReadyHeaders::Pointer headers_now(std::string_view /*method*/, const net::Url& /*url*/) { return nullptr; }

  // Called when the server refused the credentials. Returns true if there are new ones, and the request is sent again.
  // The views in `refusal` hold during the await.
  virtual Task<Result<bool>> refused(Refusal refusal) = 0;

  // Called for other responses, which may bring a nonce for the next proof.
  virtual void accepted(std::string_view /*dpop_nonce*/) {}
};

}  // namespace proteus::client
