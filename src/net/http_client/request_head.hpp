#pragma once

#include <string>

#include <proteus/error.hpp>

#include "net/http_client/http_client.hpp"

namespace proteus::net {

// Writes the head of a request over `out`, for its host or, in absolute form, for a proxy. What would not be
// read as it is meant is refused: a method or name that is no token, line breaks in values, fields that are
// the client's own.
Result<> write_request_head(std::string& out, const ClientRequest& request, std::string_view user_agent,
                            const Proxy* proxy);

// Fields as lines of a head, checked as those of a request are; for ClientRequest::more_prepared.
Result<std::string> write_fields(std::span<const Field> fields);

// See HttpClient::prepare.
Result<std::string> prepare_fields(std::span<const Field> fields, std::string_view user_agent);

}  // namespace proteus::net
