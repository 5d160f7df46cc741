#pragma once

#include <memory>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// Makes a transport for HTTP+SSE of 2024-11-05, which is deprecated: the server sends all its messages on one event
// stream, and names there the URL that takes the client's messages. The HTTP client, the options and the inbox must
// outlive the transport.
std::unique_ptr<Transport> old_sse(const Executor& executor, net::HttpClient& http, net::Url url,
                                   const Options& options, Inbox& inbox);

}  // namespace proteus::client
