#include "datasets/mapping/mapping.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/settings/environment.hpp"
#include "json/binding.hpp"

namespace proteus::datasets {
namespace {

using json::Place;

constexpr std::size_t kLongestName = 57;  // 64 with "workup_" in front
constexpr std::size_t kMaxProblems = 200;

Result<> check_identifier(std::string_view text) {
  if (text.empty()) return std::unexpected(errors::invalid("must not be empty"));
  return {};
}

json::Codec<std::string> identifier() {
  return json::text({.max_bytes = limits::kIdentifier, .check = check_identifier});
}
json::Codec<std::string> optional_identifier() {
  return json::text({.max_bytes = limits::kIdentifier, .check = {}, .when_empty = json::WhenEmpty::left_out});
}
json::Codec<std::vector<std::string>> columns() {
  return json::list(identifier(), "columns", {.least = 0, .most = limits::kColumns});
}

const json::Binding<EntityMapping>& entity_binding() {
  static const json::Binding<EntityMapping> binding{
      json::field("table", &EntityMapping::table, identifier(), "The table").required(),
      json::field("type", &EntityMapping::type, identifier(), "What a row is").required(),
      json::field("id_column", &EntityMapping::id_column, identifier(), "What tells rows apart").required(),
      json::field("name_column", &EntityMapping::name_column, optional_identifier(), "What people call it"),
      json::field("alias_columns", &EntityMapping::alias_columns, columns(), "What else they call it"),
      json::field("attribute_columns", &EntityMapping::attribute_columns, columns(), "What is shown of it"),
  };
  return binding;
}

const json::Binding<RelationshipMapping>& relationship_binding() {
  using R = RelationshipMapping;
  static const json::Binding<R> binding{
      json::field("type", &R::type, identifier(), "What it is").required(),
      json::field("from_table", &R::from_table, identifier(), "Where it begins").required(),
      json::field("from_column", &R::from_column, identifier(), "The column there").required(),
      json::field("to_table", &R::to_table, identifier(), "Where it ends").required(),
      json::field("to_column", &R::to_column, identifier(), "The column there").required(),
      json::field("through_table", &R::through_table, optional_identifier(), "A table between the two"),
      json::field("through_from_column", &R::through_from_column, optional_identifier(), "Equal to from_column"),
      json::field("through_to_column", &R::through_to_column, optional_identifier(), "Equal to to_column"),
  };
  return binding;
}

struct Head {
  std::string name;
  std::string dsn_env;
  std::string schema = "public";
  std::string description;
};

const json::Binding<Head>& head_binding() {
  static const json::Binding<Head> binding{
      json::field("name", &Head::name, json::text({.max_bytes = 4096, .check = check_dataset_name}), "Its name")
          .required(),
      json::field("dsn_env", &Head::dsn_env, json::text({.max_bytes = 256, .check = check_variable_name}),
                  "The environment variable with the address of the source")
          .required(),
      json::field("schema", &Head::schema, identifier(), "The schema of PostgreSQL"),
      json::field("description", &Head::description, json::text({.max_bytes = 2000}), "What is in it, for agents"),
  };
  return binding;
}

struct File {
  Head dataset;
  std::vector<EntityMapping> entities;
  std::vector<RelationshipMapping> relationships;
};

const json::Binding<File>& file_binding() {
  static const json::Binding<File> binding{
      json::field("dataset", &File::dataset, json::table(head_binding()), "The dataset itself").required(),
      json::field("entities", &File::entities,
                  json::list(json::table(entity_binding()), "tables", {.least = 1, .most = limits::kEntities}),
                  "The tables whose rows are entities")
          .required(),
      json::field(
          "relationships", &File::relationships,
          json::list(json::table(relationship_binding()), "tables", {.least = 0, .most = limits::kRelationships}),
          "How rows belong together"),
  };
  return binding;
}

// Checks what must hold between the parts of a mapping that was read without faults.
class Rules {
 public:
  Rules(const Mapping& mapping, Problems& problems, const toml::Document& document)
      : mapping_(mapping), problems_(problems), document_(document) {}

  void run() {
    std::set<std::string, std::less<>> tables;
    for (std::size_t i = 0; i < mapping_.entities.size(); ++i) {
      const EntityMapping& entity = mapping_.entities[i];
      if (!tables.insert(entity.table).second) {
        add(ProblemKind::syntax, "entities", i, "table",
            fmt::format("the table {} is mapped twice; a row is one entity", log::printable(entity.table)));
      }
    }
    std::set<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>> seen;
    for (std::size_t i = 0; i < mapping_.relationships.size(); ++i) {
      const RelationshipMapping& one = mapping_.relationships[i];
      check_end(i, "from_table", one.from_table);
      check_end(i, "to_table", one.to_table);
      const int parts = static_cast<int>(!one.through_table.empty()) +
                        static_cast<int>(!one.through_from_column.empty()) +
                        static_cast<int>(!one.through_to_column.empty());
      if (parts != 0 && parts != 3) {
        add(ProblemKind::syntax, "relationships", i, "through_table",
            "through_table, through_from_column and through_to_column belong together");
      }
      if (!seen.emplace(one.type, one.from_table, one.from_column, one.to_table, one.to_column, one.through_table)
               .second) {
        add(ProblemKind::syntax, "relationships", i, "type", "the same relationship stands here twice");
      }
    }
  }

 private:
  void check_end(std::size_t index, std::string_view key, const std::string& table) {
    if (mapping_.entity_of(table) != nullptr) return;
    add(ProblemKind::unmapped_end, "relationships", index, key,
        fmt::format("the table {} is not an entity; map it under [[entities]], or leave the relationship out",
                    log::printable(table)));
  }

  void add(ProblemKind kind, std::string_view list, std::size_t index, std::string_view key, std::string message) {
    problems_.push_back({.kind = kind,
                         .position = document_.locate(fmt::format("/{}/{}/{}", list, index, key)),
                         .path = fmt::format("{}[{}].{}", list, index, key),
                         .message = std::move(message)});
  }

  const Mapping& mapping_;
  Problems& problems_;
  const toml::Document& document_;
};

std::vector<std::string> distinct(const auto& items) {
  std::vector<std::string> found;
  for (const auto& item : items) {
    if (std::ranges::find(found, item.type) == found.end()) found.push_back(item.type);
  }
  return found;
}

}  // namespace

Result<> check_dataset_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  if (name.empty() || name.size() > kLongestName || !std::ranges::all_of(name, fits) || name.front() == '-') {
    return std::unexpected(errors::invalid(fmt::format(
        "must be 1 to {} letters, digits, hyphens and underscores, and not begin with a hyphen", kLongestName)));
  }
  // A ratified mapping is written to a file of its name.
  if (name == "ontology" || name == "ratified") {
    return std::unexpected(
        errors::invalid(fmt::format("must not be {0}: {0}.toml is another file in the directory of mappings", name)));
  }
  return {};
}

const EntityMapping* Mapping::entity_of(std::string_view table) const {
  const auto found = std::ranges::find(entities, table, &EntityMapping::table);
  return found == entities.end() ? nullptr : &*found;
}

std::vector<std::string> Mapping::entity_types() const { return distinct(entities); }
std::vector<std::string> Mapping::relationship_types() const { return distinct(relationships); }

std::expected<ParsedMapping, Problems> parse_mapping(std::string_view text) {
  Problems problems;
  if (text.size() > limits::kMappingBytes) {
    problems.push_back({.message = fmt::format("the file is over the limit of {} bytes", limits::kMappingBytes)});
    return std::unexpected(std::move(problems));
  }
  auto document = toml::Document::parse(text);
  if (!document) {
    problems.push_back({.position = document.error().position, .message = std::move(document.error().message)});
    return std::unexpected(std::move(problems));
  }
  json::Faults faults;
  File file;
  file_binding().read(document->root(), file, Place(faults));
  for (const auto* all : {&document->faults(), &faults.all()}) {
    for (const json::Fault& fault : *all) {
      if (problems.size() == kMaxProblems) break;
      problems.push_back({.position = document->locate(fault.pointer), .path = fault.path, .message = fault.message});
    }
  }
  Mapping mapping{.name = std::move(file.dataset.name),
                  .dsn_env = std::move(file.dataset.dsn_env),
                  .schema = std::move(file.dataset.schema),
                  .description = std::move(file.dataset.description),
                  .entities = std::move(file.entities),
                  .relationships = std::move(file.relationships)};
  if (problems.empty()) Rules(mapping, problems, *document).run();
  std::ranges::sort(problems, {}, [](const Problem& one) { return std::tuple(one.position, one.path); });
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return ParsedMapping{std::move(mapping), std::move(*document)};
}

}  // namespace proteus::datasets
