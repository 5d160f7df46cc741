#pragma once

#include <memory>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::client {

// HTTP+SSE of 2024-11-05, deprecated since: one event stream for all that the server says, and a URL, told by
// it, for all that it is told. The HTTP client, the options and the inbox must outlive it.
std::unique_ptr<Transport> old_sse(const Executor& executor, net::HttpClient& http, net::Url url,
                                   const Options& options, Inbox& inbox);

}  // namespace proteus::client
