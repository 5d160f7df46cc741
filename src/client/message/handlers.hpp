#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/message/transport.hpp"
#include "mcp/meta.hpp"
#include "mcp/method.hpp"

namespace proteus::client {

// A question of a server: `elicitation/create`, `sampling/createMessage` or `roots/list`.
struct Question {
  mcp::Method method{};
  std::string params;             // JSON object; may be empty for roots
  RequestId during = kNoRequest;  // our request that caused the question, if known
  bool early = false;             // the request whose caller is asked was not sent yet
  // Reports the progress of the answer to the server; takes the `params` of a progress notification. Empty if the
  // server wants no progress. Thread-safe, and without effect once the question is answered.
  std::function<void(std::string)> on_progress = {};
};

// Returns the result object as JSON, or an error. A legacy server receives the error; a request to a modern server
// fails with it.
using Handler = std::function<Task<Result<std::string>>(Question)>;

// Answers a server's questions. A kind of question without a handler is not declared as a capability, and is refused if
// the server asks nevertheless.
struct Handlers {
  Handler elicit_form;
  Handler elicit_url;
  Handler sample;
  Handler list_roots;
  bool sample_with_tools = false;
  bool roots_list_changed = false;  // changes of the roots are announced
  // Whether fields that an accepted form leaves out get the defaults of the requested schema. Turn it off to pass
  // answers on unchanged.
  bool apply_defaults = true;

  bool any() const { return elicit_form || elicit_url || sample || list_roots; }
  mcp::ClientCapabilities capabilities() const;
};

// Passes the question to its handler. Fails if there is none, or if its answer is not an object. `handlers` must
// outlive the await.
Task<Result<std::string>> ask(const Handlers& handlers, Question question);

// Returns the result of a form elicitation. If the form was accepted, adds the defaults of the `requestedSchema` in
// `params` for missing fields.
std::string with_defaults(std::string result, std::string_view params);

}  // namespace proteus::client
