#pragma once

#include <memory>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// Makes a transport for Streamable HTTP of both eras: each message is a POST, and the server answers with JSON or an
// event stream. With a legacy server the transport keeps the session and resumes streams that end early. The HTTP
// client, the options and the inbox must outlive it.
std::unique_ptr<Transport> streamable_http(net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox);

// Ends a session that another process had, and everything that runs in it. Succeeds if the server answers at all, even
// if it does not know the session or does not let clients end sessions.
Task<Result<>> end_session(net::HttpClient& http, net::Url url, Options options, HttpSession session);

}  // namespace proteus::client
