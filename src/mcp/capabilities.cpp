#include "mcp/capabilities.hpp"

#include <initializer_list>

#include <fmt/format.h>

#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::mcp {
namespace {

void add(std::string& out, std::string_view text) {
  if (out.size() > 1) out += ',';
  out += text;
}

void add_kind(std::string& out, std::string_view name, const ServerCapabilities::Kind& kind, bool subscribe = false) {
  if (!kind.offered) return;
  std::string flags = "{";
  if (kind.list_changed) add(flags, R"("listChanged":true)");
  if (subscribe) add(flags, R"("subscribe":true)");
  add(out, fmt::format(R"("{}":{}}})", name, flags));
}

void add_instructions(std::string& out, const ServerIdentity& identity) {
  if (identity.instructions.empty()) return;
  out += R"(,"instructions":)";
  json::append_quoted(out, identity.instructions);
}

}  // namespace

std::string write_server_capabilities(const ServerCapabilities& capabilities) {
  std::string out = "{";
  add_kind(out, "tools", capabilities.tools);
  add_kind(out, "prompts", capabilities.prompts);
  add_kind(out, "resources", capabilities.resources, capabilities.subscribe);
  if (capabilities.completions) add(out, R"("completions":{})");
  if (capabilities.logging) add(out, R"("logging":{})");
  if (capabilities.tasks) add(out, R"("tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})");
  if (capabilities.task_extension) add(out, fmt::format(R"("extensions":{{"{}":{{}}}})", kTaskExtension));
  return out + "}";
}

ServerCapabilities parse_server_capabilities(std::string_view raw) {
  ServerCapabilities capabilities;
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(raw, storage);
  if (!members) return capabilities;
  const auto flag = [&](std::string_view object, std::string_view name) {
    const auto flags = json::members_of(object, storage);
    return flags && flags->value(name) == "true";
  };
  const auto read = [&](std::string_view name) {
    const std::string_view kind = members->value(name);
    return ServerCapabilities::Kind{json::is_object(kind), json::is_object(kind) && flag(kind, "listChanged")};
  };
  capabilities.tools = read("tools");
  capabilities.prompts = read("prompts");
  capabilities.resources = read("resources");
  capabilities.subscribe = capabilities.resources.offered && flag(members->value("resources"), "subscribe");
  capabilities.completions = json::is_object(members->value("completions"));
  capabilities.logging = json::is_object(members->value("logging"));
  const auto has = [](std::string_view object, std::initializer_list<std::string_view> path) {
    for (const std::string_view name : path)
      object = json::is_object(object) ? json::find_member(object, name) : std::string_view();
    return json::is_object(object);
  };
  capabilities.tasks = has(members->value("tasks"), {"requests", "tools", "call"});
  capabilities.task_extension = has(members->value("extensions"), {kTaskExtension});
  return capabilities;
}

bool offers(const ServerCapabilities& capabilities, Method method) {
  switch (method) {
    case Method::tools_list:
    case Method::tools_call: return capabilities.tools.offered;
    case Method::prompts_list:
    case Method::prompts_get: return capabilities.prompts.offered;
    case Method::resources_list:
    case Method::resource_templates_list:
    case Method::resources_read: return capabilities.resources.offered;
    case Method::resources_subscribe:
    case Method::resources_unsubscribe: return capabilities.subscribe;
    case Method::complete: return capabilities.completions;
    case Method::set_log_level: return capabilities.logging;
    case Method::tasks_get:
    case Method::tasks_cancel: return capabilities.tasks || capabilities.task_extension;
    case Method::tasks_result:
    case Method::tasks_list: return capabilities.tasks;
    case Method::tasks_update: return capabilities.task_extension;
    default: return true;
  }
}

std::string initialize_members(Version version, const ServerCapabilities& capabilities,
                               const ServerIdentity& identity) {
  ServerCapabilities known = capabilities;
  known.tasks = known.tasks && has_tasks(version);
  std::string out = fmt::format(R"("protocolVersion":"{}","capabilities":{},"serverInfo":{})", to_string(version),
                                write_server_capabilities(known), identity.info);
  add_instructions(out, identity);
  return out;
}

std::string discover_members(Eras eras, const ServerCapabilities& capabilities, const ServerIdentity& identity) {
  std::string out = fmt::format(R"("supportedVersions":{},"capabilities":{})", supported_versions_json(eras),
                                write_server_capabilities(capabilities));
  add_instructions(out, identity);
  return out;
}

}  // namespace proteus::mcp
