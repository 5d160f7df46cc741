#include "app/config/reference.hpp"

#include <fmt/format.h>

#include "app/config/sections.hpp"

namespace proteus::app {
namespace {

// Returns a value as code and prose as it is. All values that can be defaults look the same in JSON and TOML.
std::string default_cell(const json::KeyInfo& key) {
  const std::string& text = key.default_text;
  if (text.empty()) return key.keys.empty() ? "none" : "";
  const bool is_value = text.starts_with('"') || text.starts_with('[') || text.starts_with('{') || text == "true" ||
                        text == "false" || (text.front() >= '0' && text.front() <= '9');
  return is_value && !text.contains(' ') ? fmt::format("`{}`", text) : text;
}

void add_rows(std::string& out, const std::vector<json::KeyInfo>& keys, const std::string& above) {
  for (const json::KeyInfo& key : keys) {
    const std::string name = above + key.name;
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, key.type, default_cell(key), key.meaning);
    add_rows(out, key.keys, name + (key.type.starts_with("list of") ? "[]." : "."));
  }
}

std::string heading(const json::KeyInfo& section) {
  if (section.type == "list of tables") return fmt::format("[[{}]]", section.name);
  if (section.type == "table of tables") return fmt::format("[{}.NAME]", section.name);
  return fmt::format("[{}]", section.name);
}

}  // namespace

std::string configuration_reference() {
  std::string out;
  for (const json::KeyInfo& section : sections_binding().describe()) {
    out += fmt::format("\n### {}\n\n{}\n\n| key | type | default | meaning |\n|---|---|---|---|\n", heading(section),
                       section.meaning);
    add_rows(out, section.keys, "");
  }
  return out;
}

}  // namespace proteus::app
