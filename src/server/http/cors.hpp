#pragma once

#include <string>
#include <string_view>

#include "net/http_server/request.hpp"

// What lets pages in a browser call (the CORS protocol of the Fetch standard). Who calls is never known by a cookie or
// anything else that a browser adds by itself, so that credentials are not allowed. All are whole lines of a head.
namespace proteus::server {

// For each answer to a page of an allowed origin, so that its script may read it.
std::string cors_fields(std::string_view origin);

// For the answer to OPTIONS: which methods there are, as in "GET, POST", and what a browser wants to know before it
// sends the request of a page.
std::string options_fields(const net::Request& request, std::string_view methods);

}  // namespace proteus::server
