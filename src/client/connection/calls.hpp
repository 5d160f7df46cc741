#pragma once

#include <string>

#include "client/connection/connection.hpp"

// A function for each request of the protocol. JSON arguments are sent unchanged; answers are returned unchanged. See
// Connection::request.
namespace proteus::client {

// `arguments` is an object.
Task<Result<Answer>> call_tool(Connection& connection, std::string name, std::string arguments,
                               RequestOptions options = {});
// `arguments` is an object of strings, or empty.
Task<Result<Answer>> get_prompt(Connection& connection, std::string name, std::string arguments,
                                RequestOptions options = {});
Task<Result<Answer>> read_resource(Connection& connection, std::string uri, RequestOptions options = {});

// `reference` is {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}. `context` is an object of the
// arguments that are already known, or empty.
Task<Result<Answer>> complete(Connection& connection, std::string reference, std::string argument, std::string value,
                              std::string context = {}, RequestOptions options = {});

// Checks whether the server answers. The modern era has no `ping`, so a modern server gets `server/discover`,
// and the connection learns what it says about itself now. Succeeds, too, if the server turns out to have changed its
// era and agrees to the other one.
Task<Result<>> ping(Connection& connection, RequestOptions options = {});

// Returns whether the request has changed the server's lists, according to `refresh_capabilities` in the answer's
// `_meta`. They should be read again then.
bool wants_refresh(const Answer& answer);

}  // namespace proteus::client
