#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/strong.hpp"
#include "datasets/mapping/problem.hpp"

// How the tables of a database are entities and relationships: the file a person ratifies.
namespace proteus::datasets {

using DatasetName = Strong<std::string, struct DatasetNameTag>;

// One that a tool's name can end with, so that `workup_<name>` is one every client accepts: 1 to 57 letters, digits,
// hyphens and underscores, and no hyphen in front. Says what is wrong with one that is none.
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

// Rows of two tables that belong together where the named columns are equal; or, where there is a table between them,
// where its columns are equal to theirs.
struct RelationshipMapping {
  std::string type = {};
  std::string from_table = {};
  std::string from_column = {};
  std::string to_table = {};
  std::string to_column = {};
  std::string through_table = {};  // empty: none
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

  // Null where the table is no entity's.
  const EntityMapping* entity_of(std::string_view table) const;
  // Each once, in the order of the file.
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

// A mapping and where in its text each value stands.
struct ParsedMapping {
  Mapping mapping;
  toml::Document document;
};

// Reports everything that is wrong with the text itself: what is no TOML, keys that are unknown or missing, tables that
// are mapped twice, relationships whose ends are no entities.
std::expected<ParsedMapping, Problems> parse_mapping(std::string_view text);

// As a draft: every key, and above an entry what `notes` says for it. Read back, it is the same mapping.
struct DraftNotes {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> entities;       // for each entity
  std::vector<std::vector<std::string>> relationships;  // for each relationship
};
std::string write_mapping(const Mapping& mapping, const DraftNotes& notes = {});

}  // namespace proteus::datasets
