#pragma once

#include <string>

#include "client/connection/connection.hpp"

// The requests of the protocol by name. Arguments are JSON text and go out as they are; answers are results
// as they came.
namespace proteus::client {

// `arguments`: an object.
Task<Result<Answer>> call_tool(Connection& connection, std::string name, std::string arguments,
                               RequestOptions options = {});
// `arguments`: an object of strings; may be empty for none.
Task<Result<Answer>> get_prompt(Connection& connection, std::string name, std::string arguments,
                                RequestOptions options = {});
Task<Result<Answer>> read_resource(Connection& connection, std::string uri, RequestOptions options = {});

// `reference`: {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}; `context`: an object of the
// arguments known already, may be empty.
Task<Result<Answer>> complete(Connection& connection, std::string reference, std::string argument, std::string value,
                              std::string context = {}, RequestOptions options = {});

// Whether a legacy server is there; a modern one has no such method, and is asked for its facts instead.
Task<Result<>> ping(Connection& connection, RequestOptions options = {});

// Whether an answer says that what the server offers has changed by it, so that lists should be read again.
bool wants_refresh(const Answer& answer);

}  // namespace proteus::client
