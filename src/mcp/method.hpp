#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mcp/version.hpp"

namespace proteus::mcp {

enum class Method : std::uint8_t {
  // Sent by the client.
  initialize,
  ping,
  discover,
  tools_list,
  tools_call,
  prompts_list,
  prompts_get,
  resources_list,
  resource_templates_list,
  resources_read,
  resources_subscribe,
  resources_unsubscribe,
  complete,
  set_log_level,
  listen,
  tasks_get,
  tasks_cancel,
  tasks_result,
  tasks_list,
  tasks_update,
  initialized,
  roots_changed,
  // Sent by the server.
  create_message,
  elicit,
  list_roots,
  log_message,
  tools_changed,
  prompts_changed,
  resources_changed,
  resource_updated,
  elicitation_complete,
  subscription_acknowledged,
  task_status,
  task_changed,
  // Sent by both.
  cancelled,
  progress,
};

enum class Sender : std::uint8_t { client, server };
enum class Form : std::uint8_t { request, notification };
// The member of `params` that names the subject of a request. The modern era mirrors it into `Mcp-Name`.
enum class NamedBy : std::uint8_t { nothing, name, uri, task_id };

constexpr std::string_view member_of(NamedBy named_by) {
  switch (named_by) {
    case NamedBy::name: return "name";
    case NamedBy::uri: return "uri";
    case NamedBy::task_id: return "taskId";
    case NamedBy::nothing: break;
  }
  return {};
}

struct MethodInfo {
  Method method;
  std::string_view name;
  Form form = Form::request;
  NamedBy named_by = NamedBy::nothing;
  bool cacheable = false;  // the modern result has `ttlMs` and `cacheScope`
  bool paged = false;
  bool may_ask = false;  // the modern answer may be a request for input
};

// Returns the methods that one side may send in an era. A method that is not in the table is unknown in that era.
std::span<const MethodInfo> methods(Era era, Sender sender);
const MethodInfo* find_method(Era era, Sender sender, std::string_view name);
const MethodInfo* find_method(Era era, Sender sender, Method method);

// Whether the method is a client's request about tasks. Tasks are experimental in 2025-11-25; in the modern era they
// are the extension `io.modelcontextprotocol/tasks`, in another form.
constexpr bool is_about_tasks(Method method) { return method >= Method::tasks_get && method <= Method::tasks_update; }

// Returns the name on the wire, which is the same in every era that has the method.
std::string_view to_string(Method method);

}  // namespace proteus::mcp
