#include "app/commands/tools_output.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "app/commands/json_text.hpp"
#include "base/text/visible_text.hpp"

namespace proteus::app {
namespace {

const boost::json::array& array_at(const boost::json::value& of, std::string_view key) {
  static const boost::json::array none;
  const auto* object = of.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(key);
  return found != nullptr && found->is_array() ? found->get_array() : none;
}

// Returns the name of an upstream, with its display name if it has one.
std::string upstream_of(const boost::json::value& of) {
  const std::string name = one_line(string_at(of, "upstream"));
  const std::string display_name = one_line(string_at(of, "upstream_display_name"));
  return display_name.empty() ? name : fmt::format("{} ({})", name, display_name);
}

// Returns a line with its indentation; escapes everything that could hide text.
std::string visible(std::string_view line) {
  const auto indent = std::min(line.find_first_not_of(" +-"), line.size());
  return std::string(line.substr(0, indent)) + visible_text(line.substr(indent));
}

// Indents each line of an untrusted text.
std::string indented(std::string_view text, std::string_view margin) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string line = one_line(text.substr(0, end));
    out += line.empty() ? "\n" : fmt::format("{}{}\n", margin, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string show_parts(const boost::json::value& tool, const Terminal& terminal) {
  std::string out = fmt::format("{}  {}\n", terminal.styled(Style::bold, one_line(string_at(tool, "name"))),
                                terminal.styled(Style::dim, upstream_of(tool)));
  for (const auto& part : array_at(tool, "parts")) {
    const std::string name = one_line(string_at(part, "name"));
    out += fmt::format(
        "  {}\n", terminal.styled(Style::green, one_line(string_at(part, "from")) + (name.empty() ? "" : " " + name)));
    out += indented(string_at(part, "text"), "    ");
  }
  return out + "\n";
}

}  // namespace

std::string show_tools(const boost::json::value& answer, const Terminal& terminal) {
  std::string explained;
  Table table({"NAME", "UPSTREAM", "DESCRIPTION"});
  for (const auto& tool : array_at(answer, "tools")) {
    if (!array_at(tool, "parts").empty()) explained += show_parts(tool, terminal);
    table.add({one_line(string_at(tool, "name")), upstream_of(tool), one_line(string_at(tool, "description"))});
  }
  if (array_at(answer, "tools").empty()) return "no tools\n";
  return explained.empty() ? table.str(terminal) : explained;
}

std::vector<std::string> warnings_of(const boost::json::value& answer) {
  std::vector<std::string> all;
  for (const auto& warning : array_at(answer, "warnings")) {
    if (warning.is_string()) all.emplace_back(warning.get_string());
  }
  for (const auto& one : array_at(answer, "missing"))
    all.push_back(fmt::format("upstream {} is not shown: {}", upstream_of(one), string_at(one, "error")));
  return all;
}

std::string show_proposals(const boost::json::value& answer, const Terminal& terminal) {
  std::string out;
  for (const auto& one : array_at(answer, "proposals")) {
    const std::string name = one_line(string_at(one, "name"));
    out += fmt::format("{}  {} {} {}, {}\n", terminal.styled(Style::bold, one_line(string_at(one, "id"))),
                       upstream_of(one), one_line(string_at(one, "kind")), name, one_line(string_at(one, "change")));
    const auto* breaking = one.is_object() ? one.get_object().if_contains("breaking") : nullptr;
    if (breaking != nullptr && breaking->is_bool() && breaking->get_bool()) {
      out += fmt::format("  {}\n", terminal.styled(Style::red, "breaking: calls are blocked until it is decided"));
    }
    for (const auto& reason : array_at(one, "reasons")) {
      if (reason.is_string()) out += fmt::format("  {}\n", terminal.styled(Style::dim, one_line(reason.get_string())));
    }
    std::string diff = string_at(one, "diff");
    std::string_view rest = diff;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      const std::string text = visible(line);
      const bool marked = line.starts_with('-') || line.starts_with('+');
      out += marked ? terminal.styled(line.front() == '-' ? Style::red : Style::green, "  " + text) : "  " + text;
      out += '\n';
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    out += '\n';
  }
  return out.empty() ? "nothing waits to be ratified\n" : out;
}

std::vector<std::string> proposal_ids(const boost::json::value& answer) {
  std::vector<std::string> ids;
  for (const auto& one : array_at(answer, "proposals"))
    ids.push_back(string_at(one, "id"));
  return ids;
}

std::vector<std::string> shortened_proposals(const boost::json::value& answer) {
  std::vector<std::string> ids;
  for (const auto& one : array_at(answer, "proposals")) {
    if (one.is_object() && !one.get_object().contains("diff")) ids.push_back(string_at(one, "id"));
  }
  return ids;
}

void replace_proposal(boost::json::value& answer, std::string_view id, boost::json::value by) {
  auto& all = answer.as_object().at("proposals").as_array();
  const auto at = std::ranges::find_if(all, [&](const auto& one) { return string_at(one, "id") == id; });
  if (by.is_null()) {
    all.erase(at);
  } else {
    *at = std::move(by);
  }
}

std::string show_decision(const boost::json::value& answer) {
  return fmt::format("{} {} of {}: {} by {}\n", one_line(string_at(answer, "kind")),
                     one_line(string_at(answer, "name")), upstream_of(answer), one_line(string_at(answer, "status")),
                     one_line(string_at(answer, "by")));
}

}  // namespace proteus::app
