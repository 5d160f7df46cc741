#include "mcp/method.hpp"

#include <algorithm>
#include <array>

namespace proteus::mcp {
namespace {

constexpr MethodInfo kToolsList{.method = Method::tools_list, .name = "tools/list", .cacheable = true, .paged = true};
constexpr MethodInfo kToolsCall{
    .method = Method::tools_call, .name = "tools/call", .named_by = NamedBy::name, .may_ask = true};
constexpr MethodInfo kPromptsList{
    .method = Method::prompts_list, .name = "prompts/list", .cacheable = true, .paged = true};
constexpr MethodInfo kPromptsGet{
    .method = Method::prompts_get, .name = "prompts/get", .named_by = NamedBy::name, .may_ask = true};
constexpr MethodInfo kResourcesList{
    .method = Method::resources_list, .name = "resources/list", .cacheable = true, .paged = true};
constexpr MethodInfo kTemplatesList{
    .method = Method::resource_templates_list, .name = "resources/templates/list", .cacheable = true, .paged = true};
constexpr MethodInfo kResourcesRead{.method = Method::resources_read,
                                    .name = "resources/read",
                                    .named_by = NamedBy::uri,
                                    .cacheable = true,
                                    .may_ask = true};
constexpr MethodInfo kComplete{.method = Method::complete, .name = "completion/complete"};
constexpr MethodInfo kCancelled{
    .method = Method::cancelled, .name = "notifications/cancelled", .form = Form::notification};
constexpr MethodInfo kProgress{
    .method = Method::progress, .name = "notifications/progress", .form = Form::notification};
constexpr MethodInfo kLogMessage{
    .method = Method::log_message, .name = "notifications/message", .form = Form::notification};
constexpr MethodInfo kToolsChanged{
    .method = Method::tools_changed, .name = "notifications/tools/list_changed", .form = Form::notification};
constexpr MethodInfo kPromptsChanged{
    .method = Method::prompts_changed, .name = "notifications/prompts/list_changed", .form = Form::notification};
constexpr MethodInfo kResourcesChanged{
    .method = Method::resources_changed, .name = "notifications/resources/list_changed", .form = Form::notification};
constexpr MethodInfo kResourceUpdated{
    .method = Method::resource_updated, .name = "notifications/resources/updated", .form = Form::notification};
constexpr MethodInfo kTasksGet{.method = Method::tasks_get, .name = "tasks/get", .named_by = NamedBy::task_id};
constexpr MethodInfo kTasksCancel{.method = Method::tasks_cancel, .name = "tasks/cancel", .named_by = NamedBy::task_id};
constexpr MethodInfo kPing{.method = Method::ping, .name = "ping"};

constexpr std::array kLegacyClient = {
    kToolsCall,
    kToolsList,
    kPromptsList,
    kPromptsGet,
    kResourcesList,
    kTemplatesList,
    kResourcesRead,
    kComplete,
    kPing,
    MethodInfo{.method = Method::initialize, .name = "initialize"},
    MethodInfo{.method = Method::resources_subscribe, .name = "resources/subscribe", .named_by = NamedBy::uri},
    MethodInfo{.method = Method::resources_unsubscribe, .name = "resources/unsubscribe", .named_by = NamedBy::uri},
    MethodInfo{.method = Method::set_log_level, .name = "logging/setLevel"},
    kTasksGet,
    kTasksCancel,
    MethodInfo{.method = Method::tasks_result, .name = "tasks/result", .named_by = NamedBy::task_id},
    MethodInfo{.method = Method::tasks_list, .name = "tasks/list", .paged = true},
    MethodInfo{.method = Method::initialized, .name = "notifications/initialized", .form = Form::notification},
    MethodInfo{.method = Method::roots_changed, .name = "notifications/roots/list_changed", .form = Form::notification},
    kCancelled,
    kProgress,
};

constexpr std::array kLegacyServer = {
    MethodInfo{.method = Method::create_message, .name = "sampling/createMessage"},
    MethodInfo{.method = Method::elicit, .name = "elicitation/create"},
    MethodInfo{.method = Method::list_roots, .name = "roots/list"},
    kPing,
    kLogMessage,
    kToolsChanged,
    kPromptsChanged,
    kResourcesChanged,
    kResourceUpdated,
    MethodInfo{.method = Method::elicitation_complete,
               .name = "notifications/elicitation/complete",
               .form = Form::notification},
    MethodInfo{.method = Method::task_status, .name = "notifications/tasks/status", .form = Form::notification},
    kCancelled,
    kProgress,
};

constexpr std::array kModernClient = {
    kToolsCall,
    kToolsList,
    kPromptsList,
    kPromptsGet,
    kResourcesList,
    kTemplatesList,
    kResourcesRead,
    kComplete,
    MethodInfo{.method = Method::discover, .name = "server/discover", .cacheable = true},
    MethodInfo{.method = Method::listen, .name = "subscriptions/listen"},
    kTasksGet,
    kTasksCancel,
    MethodInfo{.method = Method::tasks_update, .name = "tasks/update", .named_by = NamedBy::task_id},
    kCancelled,
};

constexpr std::array kModernServer = {
    kCancelled,
    kProgress,
    kLogMessage,
    kToolsChanged,
    kPromptsChanged,
    kResourcesChanged,
    kResourceUpdated,
    MethodInfo{.method = Method::subscription_acknowledged,
               .name = "notifications/subscriptions/acknowledged",
               .form = Form::notification},
    MethodInfo{.method = Method::task_changed, .name = "notifications/tasks", .form = Form::notification},
};

}  // namespace

std::span<const MethodInfo> methods(Era era, Sender sender) {
  if (era == Era::legacy) {
    return sender == Sender::client ? std::span<const MethodInfo>(kLegacyClient) : kLegacyServer;
  }
  return sender == Sender::client ? std::span<const MethodInfo>(kModernClient) : kModernServer;
}

const MethodInfo* find_method(Era era, Sender sender, std::string_view name) {
  const auto table = methods(era, sender);
  const auto found = std::ranges::find(table, name, &MethodInfo::name);
  return found == table.end() ? nullptr : &*found;
}

const MethodInfo* find_method(Era era, Sender sender, Method method) {
  const auto table = methods(era, sender);
  const auto found = std::ranges::find(table, method, &MethodInfo::method);
  return found == table.end() ? nullptr : &*found;
}

std::string_view to_string(Method method) {
  for (const auto table : {methods(Era::legacy, Sender::client), methods(Era::legacy, Sender::server),
                           methods(Era::modern, Sender::client), methods(Era::modern, Sender::server)}) {
    const auto found = std::ranges::find(table, method, &MethodInfo::method);
    if (found != table.end()) return found->name;
  }
  return {};
}

}  // namespace proteus::mcp
