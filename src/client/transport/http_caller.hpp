#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// Sends HTTP requests to one server, with its headers and credentials. Belongs to one thread. The HTTP client and the
// options must outlive it.
class HttpCaller {
 public:
  HttpCaller(net::HttpClient& http, net::Url url, const Options& options)
      : http_(http), url_(std::move(url)), options_(options) {}

  const net::Url& url() const { return url_; }
  // Returns the credentials of a message to the server's own origin; null for none.
  Authorizer* authorizer_of(const Outgoing* message) const {
    return message != nullptr && message->authorizer != nullptr ? message->authorizer : options_.authorizer.get();
  }

  // Sends a request to the server's URL, or to another URL of its origin, and returns the response once its head has
  // arrived. `head_timeout` bounds the wait for the head; zero leaves that to the caller. If the answer is 401 or 403
  // and the authorizer then has other credentials, the request is sent again. The arguments must outlive the await.
  Task<Result<net::ClientResponse>> send(std::string_view method, const net::Url& url,
                                         const std::vector<Header>& headers, std::chrono::milliseconds head_timeout);
  // Sends a DELETE with these headers, to end a session. Returns once the head of the response has arrived, whatever
  // its status. Obtains no new credentials for it, and gives up after two seconds in all.
  Task<Result<>> say_goodbye(const std::vector<Header>& headers);
  Task<Result<net::ClientResponse>> post(const net::Url& url, const Outgoing& message,
                                         const std::vector<Header>& headers);

  // Writes the fields of every POST and these headers for `try_post`. Returns an empty text if they cannot be sent.
  std::string prepare_post(std::span<const Header> headers) const;
  // Sends the message at once; see net::HttpClient. Returns nothing if that is impossible, for example because
  // credentials must be awaited. Sets `sent` to the authorizer's credentials that the request carries; null for none.
  std::optional<net::ClientResponse> try_post(const Outgoing& message, std::string_view prepared,
                                              std::chrono::milliseconds time, ReadyHeaders::Pointer& sent);

 private:
  // `message` is null for a request without a message. `refused_before`: times that the server has refused the
  // credentials of this request.
  Task<Result<net::ClientResponse>> send(std::string_view method, const net::Url& url, std::span<const Header> headers,
                                         const Outgoing* message, int refused_before,
                                         std::chrono::milliseconds head_timeout);
  Task<Result<>> send_goodbye(const std::vector<Header>& headers);

  net::HttpClient& http_;
  net::Url url_;
  const Options& options_;
};

// Passes the nonce of a response to the authorizer (RFC 9449, section 8.2). Returns false, and does nothing, if the
// response refuses the credentials.
bool report_accepted(Authorizer& authorizer, const net::ClientResponse& response);

// Reads a response with an HTTP status above 299: a JSON-RPC error, or the beginning of any other body.
Task<Result<Reply>> read_refusal(net::ClientResponse& response);

// Reads the rest of an unneeded response if it is short, so that the connection can be used again.
Task<> drain(net::ClientResponse& response);

}  // namespace proteus::client
