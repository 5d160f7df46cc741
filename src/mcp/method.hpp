#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mcp/version.hpp"

namespace proteus::mcp {

enum class Method : std::uint8_t {
  // From the client.
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
  // From the server.
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
  // From either.
  cancelled,
  progress,
};

enum class Sender : std::uint8_t { client, server };
enum class Form : std::uint8_t { request, notification };
// Which member of `params` says what a request is about; the modern era mirrors it into `Mcp-Name`.
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
  bool cacheable = false;  // its result carries `ttlMs` and `cacheScope` in the modern era
  bool paged = false;
  bool may_ask = false;  // it may be answered by a request for input
};

// The methods that exist in an era, from one side. This table is what makes a method unknown in an era.
std::span<const MethodInfo> methods(Era era, Sender sender);
const MethodInfo* find_method(Era era, Sender sender, std::string_view name);
const MethodInfo* find_method(Era era, Sender sender, Method method);

// Whether a client asks by it about tasks: an experiment in 2025-11-25, and the extension
// `io.modelcontextprotocol/tasks` in the modern era, in another form.
constexpr bool is_about_tasks(Method method) { return method >= Method::tasks_get && method <= Method::tasks_update; }

// The name on the wire, the same in every era that has the method.
std::string_view to_string(Method method);

}  // namespace proteus::mcp
