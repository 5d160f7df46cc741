#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// HTTP requests to one server, with the headers and credentials it gets. Belongs to one thread. The HTTP
// client and the options must outlive it.
class HttpCaller {
 public:
  HttpCaller(net::HttpClient& http, net::Url url, const Options& options)
      : http_(http), url_(std::move(url)), options_(options) {}

  const net::Url& url() const { return url_; }

  // Sends a request to the server's URL, or to another of its origin, and gives the answer once its head has
  // come. `head_timeout` bounds that; zero: the caller does. Where the answer is 401 or 403 and the
  // authorizer then has other credentials, it is sent again. The arguments must outlive the await.
  Task<Result<net::ClientResponse>> send(std::string_view method, const net::Url& url,
                                         const std::vector<Header>& headers, std::chrono::milliseconds head_timeout);
  Task<Result<net::ClientResponse>> post(const net::Url& url, const Outgoing& message,
                                         const std::vector<Header>& headers);

  // What each POST has and these headers, for `try_post`; empty where they cannot be sent.
  std::string prepare_post(std::span<const Header> headers) const;
  // Sends it at once; see net::HttpClient. Nothing where credentials have to be waited for. `sent` are those that it
  // carries of an authorizer.
  std::optional<net::ClientResponse> try_post(const Outgoing& message, std::string_view prepared,
                                              std::chrono::milliseconds time, std::vector<Header>& sent);

 private:
  // `message` is null for a request without one.
  Task<Result<net::ClientResponse>> send(std::string_view method, const net::Url& url, std::span<const Header> headers,
                                         const Outgoing* message, std::chrono::milliseconds head_timeout);

  Authorizer* authorizer_of(const Outgoing* message) const {
    return message != nullptr && message->authorizer != nullptr ? message->authorizer : options_.authorizer.get();
  }

  net::HttpClient& http_;
  net::Url url_;
  const Options& options_;
};

// What an HTTP status above 299 came with: an error of JSON-RPC, or the beginning of something else.
Task<Result<Reply>> read_refusal(net::ClientResponse& response);

// Reads what is left of an answer nobody needs, if that is little, so that the connection can be used again.
Task<> drain(net::ClientResponse& response);

}  // namespace proteus::client
