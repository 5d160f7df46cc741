#pragma once

#include <string>

#include <proteus/error.hpp>

#include "net/http_client/http_client.hpp"

namespace proteus::net {

// Replaces `out` by the head of a request. The target is in absolute form for an http URL behind a proxy. Rejects what
// a receiver might misread: a method or field name that is not a token, control characters in values, and fields that
// the client sets itself.
Result<> write_request_head(std::string& out, const ClientRequest& request, std::string_view user_agent,
                            const Proxy* proxy);

// Writes fields as lines of a head, with the same checks. For ClientRequest::more_prepared.
Result<std::string> write_fields(std::span<const Field> fields);

// See HttpClient::prepare.
Result<std::string> prepare_fields(std::span<const Field> fields, std::string_view user_agent);

}  // namespace proteus::net
