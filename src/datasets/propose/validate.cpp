#include "datasets/propose/validate.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/settings/nearest.hpp"

namespace proteus::datasets {
namespace {

// Returns "; did you mean x?" if a known name is similar, else nothing.
std::string hint(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest(name, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", shown(near));
}

class Validator {
 public:
  Validator(const ParsedMapping& parsed, const Introspection& source, const Ontology* ontology)
      : mapping_(parsed.mapping), document_(parsed.document), source_(source), ontology_(ontology) {}

  Problems run() {
    for (std::size_t i = 0; i < mapping_.entities.size(); ++i)
      check_entity(i, mapping_.entities[i]);
    for (std::size_t i = 0; i < mapping_.relationships.size(); ++i)
      check_relationship(i, mapping_.relationships[i]);
    std::ranges::sort(problems_, {}, [](const Problem& one) { return std::tuple(one.position, one.path); });
    return std::move(problems_);
  }

 private:
  void check_entity(std::size_t index, const EntityMapping& entity) {
    at_ = {"entities", index};
    if (ontology_ != nullptr && !ontology_->has_entity(entity.type)) {
      std::vector<std::string_view> known;
      known.reserve(ontology_->entity_types.size());
      for (const auto& type : ontology_->entity_types)
        known.emplace_back(type.name);
      add(ProblemKind::unknown_type, "type",
          fmt::format("{} is not an entity type of the ontology{}", shown(entity.type), hint(entity.type, known)));
    }
    const TableFacts* const table = find_table("table", entity.table);
    if (table == nullptr) return;
    check_column(*table, "id_column", entity.id_column);
    if (!entity.name_column.empty()) check_column(*table, "name_column", entity.name_column);
    check_columns(*table, "alias_columns", entity.alias_columns);
    check_columns(*table, "attribute_columns", entity.attribute_columns);
    if (table->column(entity.id_column) != nullptr && !table->is_key(entity.id_column)) {
      add(ProblemKind::doubtful, "id_column",
          fmt::format("nothing in the source says that {} tells rows of {} apart", shown(entity.id_column),
                      shown(entity.table)));
    }
  }

  void check_relationship(std::size_t index, const RelationshipMapping& one) {
    at_ = {"relationships", index};
    if (const TableFacts* table = find_table("from_table", one.from_table))
      check_column(*table, "from_column", one.from_column);
    if (const TableFacts* table = find_table("to_table", one.to_table))
      check_column(*table, "to_column", one.to_column);
    if (!one.through_table.empty()) {
      if (const TableFacts* table = find_table("through_table", one.through_table)) {
        check_column(*table, "through_from_column", one.through_from_column);
        check_column(*table, "through_to_column", one.through_to_column);
      }
    }
    if (ontology_ != nullptr) check_meaning(one);
  }

  void check_meaning(const RelationshipMapping& one) {
    const auto meant = ontology_->relationships_called(one.type);
    if (meant.empty()) {
      std::vector<std::string_view> known;
      known.reserve(ontology_->relationship_types.size());
      for (const auto& type : ontology_->relationship_types)
        known.emplace_back(type.name);
      return add(
          ProblemKind::unknown_type, "type",
          fmt::format("{} is not a relationship type of the ontology{}", shown(one.type), hint(one.type, known)));
    }
    const EntityMapping* const from = mapping_.entity_of(one.from_table);
    const EntityMapping* const to = mapping_.entity_of(one.to_table);
    if (from == nullptr || to == nullptr) return;
    const auto fits = [&](const RelationshipType* type) {
      return type->domain == from->type && type->range == to->type;
    };
    if (std::ranges::any_of(meant, fits)) return;
    const bool begins = std::ranges::any_of(meant, [&](const auto* type) { return type->domain == from->type; });
    const bool ends = std::ranges::any_of(meant, [&](const auto* type) { return type->range == to->type; });
    if (!begins) {
      add(ProblemKind::wrong_domain, "from_table",
          fmt::format("{} begins at {}, and rows of {} are {}", shown(one.type), shown(meant.front()->domain),
                      shown(one.from_table), shown(from->type)));
    }
    if (!ends || begins) {
      add(ProblemKind::wrong_range, "to_table",
          fmt::format("{} ends at {}, and rows of {} are {}", shown(one.type), shown(meant.front()->range),
                      shown(one.to_table), shown(to->type)));
    }
  }

  const TableFacts* find_table(std::string_view key, const std::string& name) {
    if (const TableFacts* table = source_.table(name)) return table;
    std::vector<std::string_view> known;
    known.reserve(source_.tables.size());
    for (const auto& table : source_.tables)
      known.emplace_back(table.name);
    add(ProblemKind::unknown_table, key, fmt::format("the source has no table {}{}", shown(name), hint(name, known)));
    return nullptr;
  }

  void check_columns(const TableFacts& table, std::string_view key, const std::vector<std::string>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      check_column(table, fmt::format("{}/{}", key, i), columns[i]);
  }

  void check_column(const TableFacts& table, std::string_view key, const std::string& name) {
    if (table.column(name) != nullptr) return;
    std::vector<std::string_view> known;
    known.reserve(table.columns.size());
    for (const auto& column : table.columns)
      known.emplace_back(column.name);
    add(ProblemKind::unknown_column, key,
        fmt::format("the table {} has no column {}{}", shown(table.name), shown(name), hint(name, known)));
  }

  void add(ProblemKind kind, std::string_view key, std::string message) {
    constexpr std::size_t kMost = 1000;
    if (problems_.size() == kMost) return;
    const auto slash = key.find('/');
    const std::string path = slash == std::string_view::npos
                                 ? std::string(key)
                                 : fmt::format("{}[{}]", key.substr(0, slash), key.substr(slash + 1));
    problems_.push_back({.kind = kind,
                         .position = document_.locate(fmt::format("/{}/{}/{}", at_.list, at_.index, key)),
                         .path = fmt::format("{}[{}].{}", at_.list, at_.index, path),
                         .message = std::move(message)});
  }

  struct At {
    std::string_view list;
    std::size_t index = 0;
  };

  const Mapping& mapping_;
  const toml::Document& document_;
  const Introspection& source_;
  const Ontology* ontology_;
  At at_;
  Problems problems_;
};

}  // namespace

Problems validate(const ParsedMapping& parsed, const Introspection& source, const Ontology* ontology) {
  return Validator(parsed, source, ontology).run();
}

}  // namespace proteus::datasets
