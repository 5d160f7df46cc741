#pragma once

#include <memory>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// Streamable HTTP of both eras: each message is a POST, answered by JSON or by an event stream. With a server
// of the legacy era it keeps the session and resumes streams that end early. The HTTP client, the options and
// the inbox must outlive it.
std::unique_ptr<Transport> streamable_http(net::HttpClient& http, net::Url url, const Options& options, Inbox& inbox);

// Ends a session that another process had; what runs in it ends, too. A server that knows no such session, or ends none
// when asked, has answered.
Task<Result<>> end_session(net::HttpClient& http, net::Url url, Options options, HttpSession session);

}  // namespace proteus::client
