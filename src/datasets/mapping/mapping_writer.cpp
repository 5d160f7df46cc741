#include <fmt/format.h>

#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/toml_text.hpp"

namespace proteus::datasets {
namespace {

std::string list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const auto& item : items)
    out += (out.size() > 1 ? ", " : "") + toml_quoted(item);
  return out + "]";
}

// Writes a comment line. Control characters become spaces, so that a name from the source cannot end the comment.
void note(std::string& out, std::string_view text) {
  out += "# ";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  out += '\n';
}

void notes_for(std::string& out, const std::vector<std::vector<std::string>>& notes, std::size_t index) {
  if (index >= notes.size()) return;
  for (const auto& text : notes[index])
    note(out, text);
}

}  // namespace

std::string write_mapping(const Mapping& mapping, const DraftNotes& notes) {
  std::string out;
  for (const auto& text : notes.head)
    note(out, text);
  if (!out.empty()) out += '\n';
  out += fmt::format("[dataset]\nname = {}\ndsn_env = {}\nschema = {}\n", toml_quoted(mapping.name),
                     toml_quoted(mapping.dsn_env), toml_quoted(mapping.schema));
  if (!mapping.description.empty()) out += fmt::format("description = {}\n", toml_quoted(mapping.description));
  for (std::size_t i = 0; i < mapping.entities.size(); ++i) {
    const EntityMapping& one = mapping.entities[i];
    out += '\n';
    notes_for(out, notes.entities, i);
    out += fmt::format("[[entities]]\ntable = {}\ntype = {}\nid_column = {}\n", toml_quoted(one.table),
                       toml_quoted(one.type), toml_quoted(one.id_column));
    if (!one.name_column.empty()) out += fmt::format("name_column = {}\n", toml_quoted(one.name_column));
    out += fmt::format("alias_columns = {}\nattribute_columns = {}\n", list(one.alias_columns),
                       list(one.attribute_columns));
  }
  for (std::size_t i = 0; i < mapping.relationships.size(); ++i) {
    const RelationshipMapping& one = mapping.relationships[i];
    out += '\n';
    notes_for(out, notes.relationships, i);
    out +=
        fmt::format("[[relationships]]\ntype = {}\nfrom_table = {}\nfrom_column = {}\nto_table = {}\nto_column = {}\n",
                    toml_quoted(one.type), toml_quoted(one.from_table), toml_quoted(one.from_column),
                    toml_quoted(one.to_table), toml_quoted(one.to_column));
    if (one.through_table.empty()) continue;
    out += fmt::format("through_table = {}\nthrough_from_column = {}\nthrough_to_column = {}\n",
                       toml_quoted(one.through_table), toml_quoted(one.through_from_column),
                       toml_quoted(one.through_to_column));
  }
  return out;
}

}  // namespace proteus::datasets
