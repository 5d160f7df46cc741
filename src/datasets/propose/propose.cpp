#include "datasets/propose/propose.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/utf8.hpp"
#include "datasets/mapping/naming.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kMostColumns = 40;  // of one list

bool is_texty(const ColumnFacts& column) {
  const std::string type = joined(words_of(column.type), " ");
  return type.empty() || type.contains("char") || type.contains("text") || type.contains("clob") ||
         type.contains("string") || type.contains("name");
}

bool is_binary(const ColumnFacts& column) {
  const std::string type = joined(words_of(column.type), " ");
  return type.contains("blob") || type.contains("bytea") || type.contains("binary");
}

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// Returns how well the column serves as a name, the lower the better; nothing if it is not a name.
std::optional<int> name_rank(const ColumnFacts& column, const std::string& type) {
  if (!is_texty(column) || looks_secret(column.name)) return std::nullopt;
  const std::string words = joined(words_of(column.name), "_");
  constexpr std::array<std::string_view, 3> kBest = {"name", "full_name", "display_name"};
  constexpr std::array<std::string_view, 4> kGood = {"title", "label", "subject", "headline"};
  constexpr std::array<std::string_view, 4> kFair = {"last_name", "surname", "lastname", "family_name"};
  if (is_one_of(words, kBest) || words == type + "_name") return 0;
  if (is_one_of(words, kGood) || words == type + "_title") return 2;
  if (is_one_of(words, kFair)) return 1;  // before titles: a person's title is not a name
  if (words.ends_with("_name") && words != "first_name") return 3;
  if (words.ends_with("_title")) return 4;
  return std::nullopt;
}

bool is_alias(const ColumnFacts& column, const TableFacts& table) {
  if (!is_texty(column) || looks_secret(column.name)) return false;
  constexpr std::array<std::string_view, 16> kWords = {
      "email",      "e_mail",     "username", "user_name", "login", "nickname", "alias",     "code",
      "short_name", "first_name", "slug",     "sku",       "isbn",  "ticker",   "firstname", "abbreviation"};
  const std::string words = joined(words_of(column.name), "_");
  return is_one_of(words, kWords) || table.is_key(column.name);
}

class Proposing {
 public:
  Proposing(const ProposalRequest& request, const Introspection& source, const Ontology* ontology)
      : source_(source), ontology_(ontology) {
    made_.mapping.name = request.name;
    made_.mapping.dsn_env = request.dsn_env;
    made_.mapping.schema = request.schema;
    made_.notes.head = {
        fmt::format("A draft of the dataset {}, guessed from the source. It has no effect until it is ratified.",
                    request.name),
        "Look it over, remove what agents should not see, then ratify it:",
        fmt::format("  proteus dataset ratify {}.toml --by WHO", request.name)};
  }

  Proposal run() {
    if (source_.truncated)
      problem(ProblemKind::unusable, "the source has more tables or columns than are looked at; the rest is left out");
    for (const TableFacts& table : source_.tables)
      propose_entity(table);
    for (const ForeignKey& key : source_.foreign_keys)
      propose_relationship(key);
    for (const TableFacts& table : source_.tables)
      propose_junction(table);
    for (const EntityMapping& entity : made_.mapping.entities)
      guess_links(*source_.table(entity.table));
    if (made_.mapping.entities.empty()) problem(ProblemKind::unusable, "no table of the source can be an entity");
    if (left_out_ > 0) {
      problem(ProblemKind::unusable,
              fmt::format("{} more tables and relationships are left out: a mapping has at most {} entities and {} "
                          "relationships",
                          left_out_, limits::kEntities, limits::kRelationships));
    }
    for (const auto& one : made_.problems)
      made_.notes.head.push_back(fmt::format("PROBLEM: {}", one.message));
    const std::size_t bytes = made_.draft().size();
    if (bytes > limits::kMappingBytes) {
      problem(ProblemKind::unusable, fmt::format("the draft has {} bytes, and a mapping has at most {} bytes: remove "
                                                 "tables and columns",
                                                 bytes, limits::kMappingBytes));
    }
    return std::move(made_);
  }

 private:
  void problem(ProblemKind kind, std::string message) {
    constexpr std::size_t kMost = 1000;
    if (made_.problems.size() < kMost) made_.problems.push_back({.kind = kind, .message = std::move(message)});
  }

  static bool covers_foreign_keys(const Introspection& source, const TableFacts& table) {
    std::size_t keys = 0;
    for (const ForeignKey& key : source.foreign_keys) {
      if (key.from_table == table.name && key.from_columns.size() == 1 &&
          std::ranges::find(table.primary_key, key.from_columns.front()) != table.primary_key.end())
        ++keys;
    }
    return table.primary_key.size() == 2 && keys == 2;
  }

  std::optional<std::string> id_of(const TableFacts& table) {
    const bool has_plain_key = table.primary_key.size() == 1;
    if (has_plain_key && is_writable(table.primary_key.front())) return table.primary_key.front();
    for (const auto& key : table.unique) {
      const ColumnFacts* const column = key.size() == 1 ? table.column(key.front()) : nullptr;
      if (column != nullptr && !column->nullable && is_writable(column->name)) return column->name;
    }
    if (covers_foreign_keys(source_, table)) return std::nullopt;  // the table only links two others
    problem(ProblemKind::no_key,
            fmt::format("the table {} is left out: {}", shown(table.name),
                        table.primary_key.empty() ? "it has no key, so that its rows cannot be told apart"
                        : has_plain_key           ? "a mapping cannot hold the name of its key"
                                                  : "its key has several columns, and an entity has one id"));
    return std::nullopt;
  }

  void propose_entity(const TableFacts& table) {
    if (!is_writable(table.name))
      return problem(ProblemKind::unusable,
                     fmt::format("the table {} is left out: a mapping cannot hold its name", shown(table.name)));
    if (table.is_view) {
      return problem(ProblemKind::unusable,
                     fmt::format("the view {} is left out: add it by hand, with the column that tells its rows apart",
                                 shown(table.name)));
    }
    const auto id = id_of(table);
    if (!id) return;
    if (made_.mapping.entities.size() == limits::kEntities) {
      ++left_out_;
      return;
    }
    EntityMapping entity{.table = table.name, .type = type_of(table), .id_column = *id};
    std::vector<std::string> notes;
    if (!table.comment.empty()) notes.emplace_back(cut_text(table.comment, 300));
    choose_name(table, entity);
    for (const ColumnFacts& column : table.columns)
      place(table, column, entity, notes);
    if (entity.name_column.empty()) notes.emplace_back("No column looks like a name; rows are called by their id.");
    made_.mapping.entities.push_back(std::move(entity));
    made_.notes.entities.push_back(std::move(notes));
  }

  std::string type_of(const TableFacts& table) {
    std::string guess(cut_text(entity_type_of(table.name), limits::kIdentifier));
    if (ontology_ == nullptr) return guess;
    for (const auto& type : ontology_->entity_types) {
      if (entity_type_of(type.name) == guess) return type.name;
    }
    problem(ProblemKind::unknown_type,
            fmt::format("the table {}: {} is not an entity type of the ontology", shown(table.name), shown(guess)));
    return guess;
  }

  static void choose_name(const TableFacts& table, EntityMapping& entity) {
    std::optional<int> best;
    for (const ColumnFacts& column : table.columns) {
      const auto rank = name_rank(column, entity.type);
      if (column.name == entity.id_column || !rank || (best && *best <= *rank) || !is_writable(column.name)) continue;
      best = rank;
      entity.name_column = column.name;
    }
  }

  void place(const TableFacts& table, const ColumnFacts& column, EntityMapping& entity,
             std::vector<std::string>& notes) {
    if (column.name == entity.id_column || column.name == entity.name_column) return;
    if (!is_writable(column.name)) {
      return problem(ProblemKind::unusable,
                     fmt::format("a column of {} is left out: a mapping cannot hold its name", shown(table.name)));
    }
    if (looks_secret(column.name)) {
      notes.push_back(fmt::format("{} is left out: it looks like a secret.", shown(column.name)));
      return;
    }
    if (is_binary(column)) {
      notes.push_back(fmt::format("{} is left out: it holds bytes.", shown(column.name)));
      return;
    }
    if (is_link(table.name, column.name)) return;
    auto& columns = is_alias(column, table) ? entity.alias_columns : entity.attribute_columns;
    if (columns.size() == kMostColumns) {
      notes.push_back(fmt::format("{} is left out: there are more columns than anybody reads.", shown(column.name)));
      return;
    }
    columns.push_back(column.name);
  }

  bool is_link(std::string_view table, std::string_view column) const {
    return std::ranges::any_of(source_.foreign_keys, [&](const ForeignKey& key) {
      return key.from_table == table && std::ranges::find(key.from_columns, column) != key.from_columns.end();
    });
  }

  void propose_relationship(const ForeignKey& key) {
    if (key.from_columns.size() != 1) {
      return problem(ProblemKind::unusable,
                     fmt::format("a foreign key from {} to {} is left out: it has several columns",
                                 shown(key.from_table), shown(key.to_table)));
    }
    const EntityMapping* const from = made_.mapping.entity_of(key.from_table);
    const EntityMapping* const to = made_.mapping.entity_of(key.to_table);
    // The reason why an end was left out has been reported.
    if (from == nullptr || to == nullptr || !is_writable(key.from_columns.front()) ||
        !is_writable(key.to_columns.front()))
      return;
    add({.type = link_type(*from, key.from_columns.front(), *to),
         .from_table = key.from_table,
         .from_column = key.from_columns.front(),
         .to_table = key.to_table,
         .to_column = key.to_columns.front()},
        {});
  }

  // A table whose key consists of two foreign keys only says which rows belong together.
  void propose_junction(const TableFacts& table) {
    if (made_.mapping.entity_of(table.name) != nullptr || !covers_foreign_keys(source_, table)) return;
    std::vector<const ForeignKey*> ends;
    for (const auto& column : table.primary_key) {
      for (const ForeignKey& key : source_.foreign_keys) {
        if (key.from_table == table.name && key.from_columns == std::vector{column}) ends.push_back(&key);
      }
    }
    if (ends.size() != 2) return;
    const EntityMapping* const from = made_.mapping.entity_of(ends[0]->to_table);
    const EntityMapping* const to = made_.mapping.entity_of(ends[1]->to_table);
    const auto can_be_written = [](const ForeignKey* key) {
      return is_writable(key->from_columns.front()) && is_writable(key->to_columns.front());
    };
    if (from == nullptr || to == nullptr || !is_writable(table.name) || !std::ranges::all_of(ends, can_be_written))
      return;
    std::vector<std::string> notes = {fmt::format("{} only links the two.", shown(table.name))};
    for (const ColumnFacts& column : table.columns) {
      if (!is_link(table.name, column.name)) notes.push_back(fmt::format("{} of it is not shown.", shown(column.name)));
    }
    add({.type = junction_type(*from, *to, table),
         .from_table = from->table,
         .from_column = ends[0]->to_columns.front(),
         .to_table = to->table,
         .to_column = ends[1]->to_columns.front(),
         .through_table = table.name,
         .through_from_column = ends[0]->from_columns.front(),
         .through_to_column = ends[1]->from_columns.front()},
        std::move(notes));
  }

  // Guesses links from columns that have no foreign key and are named like the id of another table.
  void guess_links(const TableFacts& table) {
    for (const ColumnFacts& column : table.columns) {
      const auto words = words_of(column.name);
      if (words.size() < 2 || words.back() != "id" || is_link(table.name, column.name) || table.is_key(column.name) ||
          !is_writable(column.name))
        continue;
      const std::string meant = joined(link_words(column.name), "_");
      for (const EntityMapping& other : made_.mapping.entities) {
        if (entity_type_of(other.table) != meant) continue;
        EntityMapping& own = *std::ranges::find(made_.mapping.entities, table.name, &EntityMapping::table);
        std::erase(own.attribute_columns, column.name);
        add({.type = link_type(own, column.name, other),
             .from_table = table.name,
             .from_column = column.name,
             .to_table = other.table,
             .to_column = other.id_column},
            {"Guessed from the column's name: no foreign key says so."});
        break;
      }
    }
  }

  std::string link_type(const EntityMapping& from, const std::string& column, const EntityMapping& to) {
    const auto words = link_words(column);
    const std::string plain = joined(words, "_");
    const std::string guess = upper(plain == entity_type_of(to.table) ? "HAS_" + plain : plain);
    return known_type(guess, from, to);
  }

  std::string junction_type(const EntityMapping& from, const EntityMapping& to, const TableFacts& table) {
    auto words = words_of(table.name);
    const std::string ends = entity_type_of(from.table) + "_" + entity_type_of(to.table);
    const std::string guess =
        entity_type_of(table.name) == ends ? "HAS_" + entity_type_of(to.table) : joined(words, "_");
    return known_type(upper(guess), from, to);
  }

  // Returns the ontology's name for a relationship if that is certain; else reports a problem and returns the guess.
  std::string known_type(const std::string& guess, const EntityMapping& from, const EntityMapping& to) {
    if (ontology_ == nullptr) return guess;
    std::vector<const RelationshipType*> fitting;
    for (const auto& type : ontology_->relationship_types) {
      if (type.domain == from.type && type.range == to.type) fitting.push_back(&type);
    }
    for (const auto* type : fitting) {
      if (words_of(type->name) == words_of(guess)) return type->name;
    }
    if (fitting.size() == 1) return fitting.front()->name;
    problem(ProblemKind::unknown_type,
            fmt::format("from {} to {}: {}", shown(from.table), shown(to.table),
                        fitting.empty() ? fmt::format("the ontology has no relationship for {}", shown(guess))
                                        : "the ontology has several relationships; choose one"));
    return guess;
  }

  void add(RelationshipMapping one, std::vector<std::string> notes) {
    one.type.resize(cut_text(one.type, limits::kIdentifier).size());
    if (std::ranges::find(made_.mapping.relationships, one) != made_.mapping.relationships.end()) return;
    if (made_.mapping.relationships.size() == limits::kRelationships) {
      ++left_out_;
      return;
    }
    made_.mapping.relationships.push_back(std::move(one));
    made_.notes.relationships.push_back(std::move(notes));
  }

  const Introspection& source_;
  const Ontology* ontology_;
  Proposal made_;
  std::size_t left_out_ = 0;  // tables and relationships beyond the limits of a mapping
};

}  // namespace

Proposal propose(const ProposalRequest& request, const Introspection& source, const Ontology* ontology) {
  return Proposing(request, source, ontology).run();
}

}  // namespace proteus::datasets
