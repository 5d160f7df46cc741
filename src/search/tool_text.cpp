#include "search/tool_text.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text/utf8.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::search {
namespace {

// Returns the length of what is at a position inside a raw JSON string: a byte, an escape, or a pair of surrogates.
std::size_t step_at(std::string_view raw, std::size_t at) {
  if (raw[at] != '\\') return 1;
  if (raw[at + 1] != 'u') return 2;
  const bool first_of_pair = (raw[at + 2] == 'd' || raw[at + 2] == 'D') && raw[at + 3] >= '8' && raw[at + 6] == '\\';
  return first_of_pair ? 12 : 6;
}

// Returns the decoded beginning of a raw JSON value from a valid text; empty if the value is not a string. Does not
// read the rest.
std::string beginning(std::string_view raw, std::size_t bytes) {
  if (!json::is_string(raw)) return {};
  if (raw.size() <= bytes + 2) return json::decode_string(raw).value_or("");
  std::size_t end = 1;
  while (end < bytes)
    end += step_at(raw, end);
  end = std::min(end, raw.size() - 1);
  while (is_continuation(raw[end]))
    ++end;  // stops at the closing quote at the latest
  std::string part(raw.substr(0, end));
  part.push_back('"');
  return json::decode_string(part).value_or("");
}

std::string_view name_of(const catalog::DefinitionList& list, const catalog::Definition& tool) {
  if (!tool.renamed) return tool.own;
  const std::string_view prefix = list.rules().prefix;
  return tool.shown.starts_with(prefix) ? tool.shown.substr(prefix.size()) : tool.shown;
}

std::string parameters_of(std::string_view schema) {
  std::string names;
  if (!json::is_object(schema)) return names;
  const std::string_view properties = json::find_member(schema, "properties");
  if (!json::is_object(properties)) return names;
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(properties, storage);
  if (!members) return names;
  for (const json::Member& member : *members) {
    if (names.size() + member.key.size() > kParametersBytes) break;
    names.append(member.key).push_back(' ');
  }
  return names;
}

void append(std::string& out, std::string_view text) {
  if (text.empty() || out.size() >= kAboutBytes) return;
  out.append(text.substr(0, kAboutBytes - out.size())).push_back('\n');
}

}  // namespace

ToolText text_of(const catalog::DefinitionList& list, const catalog::Definition& tool) {
  ToolText text{.name = name_of(list, tool), .title = {}, .description = {}, .parameters = {}};
  text.title = beginning(json::find_member(tool.text, "title"), kTitleBytes);
  if (text.title.empty()) {
    const std::string_view annotations = json::find_member(tool.text, "annotations");
    if (json::is_object(annotations)) text.title = beginning(json::find_member(annotations, "title"), kTitleBytes);
  }
  text.description = beginning(json::find_member(tool.text, "description"), kDescriptionBytes);
  text.parameters = parameters_of(json::find_member(tool.text, "inputSchema"));
  return text;
}

std::string about_of(const catalog::ProviderFacts& facts) {
  std::string text;
  if (json::is_object(facts.server_info)) {
    for (const std::string_view key : {"name", "title", "description"})
      append(text, beginning(json::find_member(facts.server_info, key), kAboutBytes));
  }
  append(text, facts.instructions);
  return text;
}

}  // namespace proteus::search
