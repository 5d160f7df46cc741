#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/message/transport.hpp"
#include "mcp/meta.hpp"
#include "mcp/method.hpp"

namespace proteus::client {

// Something a server asks for: `elicitation/create`, `sampling/createMessage` or `roots/list`.
struct Question {
  mcp::Method method{};
  std::string params;             // JSON object; may be empty for roots
  RequestId during = kNoRequest;  // the request of ours it is asked for, where that is known
  bool early = false;             // asked before the request was sent that it is put to
  // Tells the server how far the answer is, by the `params` of a notification; empty where it does not want to know.
  // Safe on any thread, and without effect once the question is answered.
  std::function<void(std::string)> on_progress = {};
};

// Gives the result object as JSON, or an error that the server, or the caller of the request, is told.
using Handler = std::function<Task<Result<std::string>>(Question)>;

// Who answers a server's questions. What has no handler is not declared as a capability, and refused if it is
// asked for nevertheless.
struct Handlers {
  Handler elicit_form;
  Handler elicit_url;
  Handler sample;
  Handler list_roots;
  bool sample_with_tools = false;
  bool roots_list_changed = false;  // whether changes of the roots are announced
  // Whether fields that an accepted form leaves out get the defaults of the requested schema. Off for who
  // passes answers on unchanged.
  bool apply_defaults = true;

  bool any() const { return elicit_form || elicit_url || sample || list_roots; }
  mcp::ClientCapabilities capabilities() const;
};

// Finds the handler, asks it and checks that its answer is an object. The handlers must outlive it.
Task<Result<std::string>> ask(const Handlers& handlers, Question question);

// The result of a form elicitation, completed by the defaults of the `requestedSchema` in `params`.
std::string with_defaults(std::string result, std::string_view params);

}  // namespace proteus::client
