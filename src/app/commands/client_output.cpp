#include "app/commands/client_output.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "app/commands/json_text.hpp"
#include "base/text/visible_text.hpp"

namespace proteus::app {
namespace {

std::string_view name_of(client::Change::Kind kind) {
  switch (kind) {
    case client::Change::Kind::tools: return "tool";
    case client::Change::Kind::prompts: return "prompt";
    case client::Change::Kind::resources: return "resource";
    case client::Change::Kind::resource_templates: return "template";
  }
  return "";
}

std::string_view key_of(client::Change::Kind kind) {
  switch (kind) {
    case client::Change::Kind::tools: return "tools";
    case client::Change::Kind::prompts: return "prompts";
    case client::Change::Kind::resources: return "resources";
    case client::Change::Kind::resource_templates: return "resourceTemplates";
  }
  return "";
}

std::string heading(std::string_view what, std::size_t count, const Terminal& terminal) {
  return fmt::format("\n{}\n", terminal.styled(Style::bold, fmt::format("{} ({})", what, count)));
}

std::string about(const std::string& title, const std::string& description) {
  return one_line(description.empty() ? title : description);
}

boost::json::array names(const std::vector<std::string>& texts) {
  boost::json::array array;
  for (const auto& text : texts)
    array.emplace_back(text);
  return array;
}

template <class T>
boost::json::array definitions(const Result<std::vector<T>>& entries) {
  boost::json::array array;
  if (entries) {
    for (const auto& entry : *entries)
      array.emplace_back(entry.definition);
  }
  return array;
}

// Describes a block that is not text.
std::string describe_block(const boost::json::object& block) {
  const std::string type = string_at(block, "type");
  if (type == "resource_link") return fmt::format("[link: {}]", one_line(string_at(block, "uri")));
  if (type == "resource") {
    const auto* resource = block.if_contains("resource");
    if (resource == nullptr || !resource->is_object()) return "[resource]";
    const std::string text = string_at(resource->get_object(), "text");
    return text.empty() ? fmt::format("[resource: {}]", one_line(string_at(resource->get_object(), "uri"))) : text;
  }
  return fmt::format("[{}: {}, {} characters of Base64]", one_line(type), one_line(string_at(block, "mimeType")),
                     string_at(block, "data").size());
}

}  // namespace

std::string show_inventory(const client::McpServer& server, const Terminal& terminal) {
  std::string out;
  if (const auto info = server.info()) {
    out += fmt::format("{} {}", terminal.styled(Style::bold, one_line(info->name.empty() ? "(unnamed)" : info->name)),
                       one_line(info->version));
    out += terminal.styled(Style::dim, fmt::format("  MCP {} ({})", info->protocol_version,
                                                   info->era == client::Era::legacy ? "legacy" : "modern"));
    out += '\n';
    if (!info->instructions.empty()) {
      const std::string instructions = one_line(info->instructions);
      out += (terminal.width() > 0 ? cut(instructions, terminal.width()) : instructions) + "\n";
    }
  }
  const auto section = [&](std::string_view what, std::size_t count, const Table& table) {
    if (count > 0) out += heading(what, count, terminal) + table.str(terminal);
  };
  Table tools({"NAME", "DESCRIPTION"});
  const auto all_tools = server.tools();
  for (const auto& tool : *all_tools)
    tools.add({one_line(tool.name), about(tool.title, tool.description)});
  section("Tools", all_tools->size(), tools);

  Table prompts({"NAME", "DESCRIPTION"});
  const auto all_prompts = server.prompts();
  for (const auto& prompt : *all_prompts)
    prompts.add({one_line(prompt.name), about(prompt.title, prompt.description)});
  section("Prompts", all_prompts->size(), prompts);

  Table resources({"URI", "NAME", "DESCRIPTION"});
  const auto all_resources = server.resources();
  for (const auto& resource : *all_resources)
    resources.add({one_line(resource.uri), one_line(resource.name), about(resource.title, resource.description)});
  section("Resources", all_resources->size(), resources);

  Table templates({"URI TEMPLATE", "NAME", "DESCRIPTION"});
  const auto all_templates = server.resource_templates();
  for (const auto& entry : *all_templates)
    templates.add({one_line(entry.uri_template), one_line(entry.name), about(entry.title, entry.description)});
  section("Resource templates", all_templates->size(), templates);
  const bool empty = all_tools->empty() && all_prompts->empty() && all_resources->empty() && all_templates->empty();
  if (empty) out += "\nIt offers no tools, prompts or resources.\n";
  return out;
}

std::string inventory_json(const client::McpServer& server) {
  boost::json::object out;
  if (const auto info = server.info()) {
    out["server"] = {{"name", info->name},
                     {"version", info->version},
                     {"protocolVersion", info->protocol_version},
                     {"era", info->era == client::Era::legacy ? "legacy" : "modern"},
                     {"instructions", info->instructions},
                     {"capabilities", info->capabilities}};
  }
  out["tools"] = definitions(server.tools());
  out["prompts"] = definitions(server.prompts());
  out["resources"] = definitions(server.resources());
  out["resourceTemplates"] = definitions(server.resource_templates());
  return json_line(out);
}

std::string show_result(const client::ToolResult& result, const Terminal& terminal) {
  std::string out;
  const auto* content = result.value.if_contains("content");
  if (content != nullptr && content->is_array()) {
    for (const auto& block : content->get_array()) {
      if (!block.is_object()) continue;
      const bool is_text = string_at(block.get_object(), "type") == "text";
      out += is_text ? string_at(block.get_object(), "text") : describe_block(block.get_object());
      out += '\n';
    }
  }
  const auto* structured = result.value.if_contains("structuredContent");
  if (out.empty() && structured != nullptr) out = boost::json::serialize(*structured) + "\n";
  return terminal.is_terminal() ? visible_text(out, LineEnds::kept) : out;
}

std::string show_change(const client::Change& change, const Terminal& terminal) {
  std::string out;
  const auto lines = [&](const std::vector<std::string>& texts, std::string_view sign, Style style) {
    for (const auto& text : texts)
      out += terminal.styled(style, fmt::format("{} {} {}", sign, name_of(change.kind), one_line(text))) + "\n";
  };
  lines(change.added, "+", Style::green);
  lines(change.removed, "-", Style::red);
  lines(change.changed, "~", Style::yellow);
  return out;
}

std::string change_json(const client::Change& change) {
  return json_line(boost::json::object{{"kind", key_of(change.kind)},
                                       {"added", names(change.added)},
                                       {"removed", names(change.removed)},
                                       {"changed", names(change.changed)}});
}

std::string show_progress(const client::Progress& progress) {
  std::string out = fmt::format("progress {:g}", progress.progress);
  if (progress.total) out += fmt::format("/{:g}", *progress.total);
  if (!progress.message.empty()) out += " " + one_line(progress.message);
  return out;
}

}  // namespace proteus::app
