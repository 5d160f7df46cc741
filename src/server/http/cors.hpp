#pragma once

#include <string>
#include <string_view>

#include "net/http_server/request.hpp"

// Header lines that let web pages call (the CORS protocol of the Fetch standard). Callers are never identified by a
// cookie or anything else that a browser adds on its own, so credentials are not allowed.
namespace proteus::server {

// Returns the lines for an answer to a page of an allowed origin, so that its script may read the answer.
std::string cors_fields(std::string_view origin);

// Returns the lines for the answer to OPTIONS: the methods, as in "GET, POST", and for a preflight what the browser
// needs to know before it sends the request of a page.
std::string options_fields(const net::Request& request, std::string_view methods);

}  // namespace proteus::server
