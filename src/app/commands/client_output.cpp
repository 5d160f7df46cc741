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
boost::json::array definitions(const std::vector<T>& entries) {
  boost::json::array array;
  for (const auto& entry : entries)
    array.emplace_back(entry.definition);
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

Shown show_inventory(const client::McpServer& server, const Terminal& terminal) {
  Shown shown;
  std::string& out = shown.text;
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
  using Cells = std::vector<std::string>;
  bool is_empty = true;
  const auto section = [&](std::string_view what, Table table, const auto& entries, const auto& cells_of) {
    if (!entries) {
      shown.is_whole = false;
      out += fmt::format("\n{} could not be read: {}\n", what, one_line(entries.error().message()));
      return;
    }
    if (entries->empty()) return;
    is_empty = false;
    for (const auto& entry : *entries)
      table.add(cells_of(entry));
    out += heading(what, entries->size(), terminal) + table.str(terminal);
  };
  const auto named = [](const auto& entry) {
    return Cells{one_line(entry.name), about(entry.title, entry.description)};
  };
  section("Tools", Table({"NAME", "DESCRIPTION"}), server.tools(), named);
  section("Prompts", Table({"NAME", "DESCRIPTION"}), server.prompts(), named);
  section("Resources", Table({"URI", "NAME", "DESCRIPTION"}), server.resources(), [](const client::Resource& entry) {
    return Cells{one_line(entry.uri), one_line(entry.name), about(entry.title, entry.description)};
  });
  section("Resource templates", Table({"URI TEMPLATE", "NAME", "DESCRIPTION"}), server.resource_templates(),
          [](const client::ResourceTemplate& entry) {
            return Cells{one_line(entry.uri_template), one_line(entry.name), about(entry.title, entry.description)};
          });
  if (is_empty && shown.is_whole) out += "\nIt offers no tools, prompts or resources.\n";
  return shown;
}

Shown inventory_json(const client::McpServer& server) {
  boost::json::object out;
  if (const auto info = server.info()) {
    out["server"] = {{"name", info->name},
                     {"version", info->version},
                     {"protocolVersion", info->protocol_version},
                     {"era", info->era == client::Era::legacy ? "legacy" : "modern"},
                     {"instructions", info->instructions},
                     {"capabilities", info->capabilities}};
  }
  boost::json::array faults;
  const auto add = [&](client::Change::Kind kind, const auto& entries) {
    if (entries) {
      out[key_of(kind)] = definitions(*entries);
    } else {
      faults.push_back(boost::json::object{{"kind", key_of(kind)}, {"error", entries.error().message()}});
    }
  };
  add(client::Change::Kind::tools, server.tools());
  add(client::Change::Kind::prompts, server.prompts());
  add(client::Change::Kind::resources, server.resources());
  add(client::Change::Kind::resource_templates, server.resource_templates());
  const bool is_whole = faults.empty();
  if (!is_whole) out["faults"] = std::move(faults);
  return {json_line(out), is_whole};
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
