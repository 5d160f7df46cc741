#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "datasets/mapping/problem.hpp"

// How the tables of a database become entities and relationships: the mapping file, which a person ratifies.
namespace proteus::datasets {

// Checks that a tool's name can end with the name of the dataset, so that every client accepts `workup_<name>`: 1 to 57
// letters, digits, hyphens and underscores, and no hyphen in front. Refuses the names of the other files in the
// directory of mappings. The error says what is wrong.
Result<> check_dataset_name(std::string_view name);

struct EntityMapping {
  std::string table = {};
  std::string type = {};
  std::string id_column = {};
  std::string name_column = {};  // empty: the id is the name
  std::vector<std::string> alias_columns = {};
  std::vector<std::string> attribute_columns = {};

  friend bool operator==(const EntityMapping&, const EntityMapping&) = default;
};

// Rows of two tables that belong together because the named columns are equal or, if there is a table between them,
// because the columns of that table equal theirs.
struct RelationshipMapping {
  std::string type = {};
  std::string from_table = {};
  std::string from_column = {};
  std::string to_table = {};
  std::string to_column = {};
  std::string through_table = {};  // empty: no table between
  std::string through_from_column = {};
  std::string through_to_column = {};

  friend bool operator==(const RelationshipMapping&, const RelationshipMapping&) = default;
};

struct Mapping {
  std::string name = {};
  std::string dsn_env = {};
  std::string schema = "public";  // of PostgreSQL; SQLite has none
  std::string description = {};   // for agents
  std::vector<EntityMapping> entities = {};
  std::vector<RelationshipMapping> relationships = {};

  // Returns null if no entity maps the table.
  const EntityMapping* entity_of(std::string_view table) const;
  // Return each type once, in the order of the file.
  std::vector<std::string> entity_types() const;
  std::vector<std::string> relationship_types() const;

  friend bool operator==(const Mapping&, const Mapping&) = default;
};

namespace limits {
inline constexpr std::size_t kMappingBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kEntities = 1000;
inline constexpr std::size_t kRelationships = 5000;
inline constexpr std::size_t kColumns = 200;  // of one list
inline constexpr std::size_t kIdentifier = 256;
}  // namespace limits

// A mapping, and the position of each value in its text.
struct ParsedMapping {
  Mapping mapping;
  toml::Document document;
};

// Reports everything that is wrong with the text itself: syntax errors, unknown and missing keys, tables that are
// mapped twice, relationships whose ends are not entities.
std::expected<ParsedMapping, Problems> parse_mapping(std::string_view text);

// Comments for a draft, above its entries. `write_mapping` writes the draft; parsed again, it gives the same mapping.
struct DraftNotes {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> entities;       // for each entity
  std::vector<std::vector<std::string>> relationships;  // for each relationship
};
std::string write_mapping(const Mapping& mapping, const DraftNotes& notes = {});

}  // namespace proteus::datasets
