#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/definitions/definition.hpp"
#include "catalog/definitions/definition_check.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/definitions/names.hpp"

namespace proteus::catalog {

struct ListLimits {
  std::size_t definitions = 100'000;
  std::size_t definition_bytes = std::size_t{1} << 20U;  // a larger one is left out
  std::size_t bytes = std::size_t{256} << 20U;           // of all together
  Tasks tasks = Tasks::not_spoken;                       // by whoever lists them
};

// Whether a tool says of what it puts out that it is something else than an object.
bool has_modern_output(std::string_view tool);

// The hash that names are looked up by, in a list and in the catalog.
std::uint32_t name_hash(std::string_view name);

// All definitions of one kind that one provider offers, in the order of the names that clients see. Immutable, and safe
// to read from any thread. The texts stand in one buffer with commas between them, so that any run of neighbours is one
// piece of a list.
class DefinitionList {
 public:
  using Pointer = std::shared_ptr<const DefinitionList>;

  // From the definitions as a provider lists them; `raw` is needed only during the call. What cannot be offered is left
  // out with a reason: a text that is no JSON object or too large, a name that is missing, twice there (the first is
  // kept) or not allowed, a schema or header annotation that would make clients refuse the whole list. Fails where
  // there are more definitions or bytes than allowed.
  //
  // What has not changed since `previous` (may be null) is taken from there without being parsed; where nothing has,
  // the result is `previous` itself.
  static Result<Pointer> build(Kind kind, std::span<const std::string_view> raw, const NameRules& rules,
                               const ListLimits& limits, const Pointer& previous = nullptr);

  // What an operator has made of some of them, by their own names.
  struct Reshaped {
    std::map<std::string, std::string, std::less<>> names;  // that stand for the provider's own
    std::map<std::string, std::shared_ptr<const ShapedTool>, std::less<>> tools;
  };
  // The same for those; what is in `raw` says what they are shown as, but for the name.
  static Result<Pointer> build(Kind kind, std::span<const std::string_view> raw, const NameRules& rules,
                               const ListLimits& limits, const Reshaped& reshaped);
  static Pointer empty(Kind kind);

  // What becomes of a definition that is looked at through a lens.
  struct Face {
    bool kept = true;
    std::optional<std::string> text = {};  // another one of the same name; none: as it is
  };
  // Some of a list's definitions, in other words; their names, hashes and order stay. `face` is asked once for each.
  // The list itself where nothing becomes another.
  static Pointer derive(const Pointer& list, const std::function<Face(const Definition&)>& face);
  // The list it was derived from; null for one that was not.
  const Pointer& origin() const { return origin_; }

  DefinitionList(const DefinitionList&) = delete;
  DefinitionList& operator=(const DefinitionList&) = delete;

  Kind kind() const { return kind_; }
  const NameRules& rules() const { return rules_; }
  std::size_t size() const { return definitions_.size(); }
  std::span<const Definition> definitions() const { return definitions_; }
  const Definition& operator[](std::size_t index) const { return definitions_[index]; }

  // The texts of the definitions from `begin` up to `end`, with commas between.
  std::string_view joined(std::size_t begin, std::size_t end) const;
  std::string_view joined() const { return text_; }

  // By the name clients see, or null. The hash is that of the name.
  const Definition* find(std::string_view shown, std::uint32_t hash) const;
  const Definition* find(std::string_view shown) const { return find(shown, name_hash(shown)); }
  // By the name it would be shown by if it were portable: the prefix and the own name.
  const Definition* find_alias(std::string_view alias, std::uint32_t hash) const;
  // The index of the first definition whose name is above this one.
  std::size_t above(std::string_view shown) const;

  // Of templates: those that a URI is tried with, the one with the most fixed characters first.
  std::span<const std::uint32_t> by_precision() const { return by_precision_; }

  // Where a name or an alias hashes to; in order of the hash, names before aliases.
  struct Key {
    std::uint32_t hash;
    std::uint32_t alias : 1;
    std::uint32_t index : 31;
  };
  std::span<const Key> keys() const { return keys_; }

  // Of tools: whether one puts out something else than an object, which only the modern era has.
  bool has_modern_output() const { return modern_output_; }
  // Whether one can be called only as a task, which only 2025-11-25 has.
  bool has_task_only() const { return task_only_; }

  // What was left out, at most so many of them; `omitted` counts all.
  static constexpr std::size_t kMaxOmissions = 1000;
  const std::vector<Omission>& omissions() const { return omissions_; }
  std::size_t omitted() const { return omitted_; }

 private:
  friend class ListBuilder;
  explicit DefinitionList(Kind kind) : kind_(kind) {}
  const Definition* find_key(std::string_view name, std::uint32_t hash, bool alias) const;
  std::string_view key_name(const Key& key) const;

  Kind kind_;
  NameRules rules_;
  std::string text_;
  std::vector<Definition> definitions_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> by_precision_;
  // Few definitions need any of these.
  std::forward_list<std::string> names_;
  std::forward_list<std::vector<mcp::MirroredParameter>> mirrored_;
  std::forward_list<mcp::UriPattern> patterns_;
  std::forward_list<std::shared_ptr<const ShapedTool>> shaped_;
  std::vector<Omission> omissions_;
  std::size_t omitted_ = 0;
  bool modern_output_ = false;
  bool task_only_ = false;
  Pointer origin_;  // of a derived one: names and patterns are there
};

}  // namespace proteus::catalog
