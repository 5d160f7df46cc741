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
  std::size_t definition_bytes = std::size_t{1} << 20U;  // larger ones are left out
  std::size_t bytes = std::size_t{256} << 20U;           // of all definitions together
  Tasks tasks = Tasks::not_spoken;                       // whether the provider supports them
};

// Whether a tool has an `outputSchema` whose `type` is not "object". Only the modern era allows this.
bool has_modern_output(std::string_view tool);

// Returns the hash by which a list and the catalog look up names.
std::uint32_t name_hash(std::string_view name);

// All definitions of one kind that one provider offers, sorted by the names that clients see. Immutable and
// thread-safe. The texts are stored in one buffer, separated by commas, so that any run of neighbours is one contiguous
// piece of a list.
class DefinitionList {
 public:
  using Pointer = std::shared_ptr<const DefinitionList>;

  // Builds a list from the definitions as a provider lists them; `raw` is needed only during the call. Leaves out, with
  // a reason, what cannot be offered: a text that is not a JSON object or too large; a name that is missing, not
  // allowed or duplicate (the first is kept); a schema or header annotation that would make clients reject the whole
  // list. Fails if there are more definitions or bytes than allowed.
  //
  // Definitions that have not changed since `previous` (may be null) are taken from there without being parsed. If none
  // has changed, returns `previous` itself.
  static Result<Pointer> build(Kind kind, std::span<const std::string_view> raw, const NameRules& rules,
                               const ListLimits& limits, const Pointer& previous = nullptr);

  // Changes that an operator made to some definitions, by the provider's own names.
  struct Reshaped {
    std::map<std::string, std::string, std::less<>> names;  // replacements for the provider's own names
    std::map<std::string, std::shared_ptr<const ShapedTool>, std::less<>> tools;
  };
  // Builds a list whose definitions an operator has changed. The texts in `raw` have the changes already, except for
  // the names.
  static Result<Pointer> build(Kind kind, std::span<const std::string_view> raw, const NameRules& rules,
                               const ListLimits& limits, const Reshaped& reshaped);
  static Pointer empty(Kind kind);

  // What a lens makes of one definition.
  struct Face {
    bool kept = true;
    std::optional<std::string> text = {};  // another text of the same name; none: unchanged
  };
  // Returns a list with some of the definitions, possibly with other texts; names, hashes and order stay. Calls `face`
  // once for each definition. Returns `list` itself if nothing differs.
  static Pointer derive(const Pointer& list, const std::function<Face(const Definition&)>& face);
  // Returns the list from which this one is derived; null if it is not derived.
  const Pointer& origin() const { return origin_; }

  DefinitionList(const DefinitionList&) = delete;
  DefinitionList& operator=(const DefinitionList&) = delete;

  Kind kind() const { return kind_; }
  const NameRules& rules() const { return rules_; }
  std::size_t size() const { return definitions_.size(); }
  std::span<const Definition> definitions() const { return definitions_; }
  const Definition& operator[](std::size_t index) const { return definitions_[index]; }

  // Returns the texts of the definitions in [begin, end), separated by commas.
  std::string_view joined(std::size_t begin, std::size_t end) const;
  std::string_view joined() const { return text_; }

  // Finds a definition by the name clients see; null if there is none. `hash` must be the hash of the name.
  const Definition* find(std::string_view shown, std::uint32_t hash) const;
  const Definition* find(std::string_view shown) const { return find(shown, name_hash(shown)); }
  // Finds a definition with a portable name by its full name: the prefix and the provider's own name.
  const Definition* find_alias(std::string_view alias, std::uint32_t hash) const;
  // Returns the index of the first definition whose name is greater than `shown`.
  std::size_t above(std::string_view shown) const;

  // Of templates: the order in which a URI is matched with them, those with the most fixed characters first.
  std::span<const std::uint32_t> by_precision() const { return by_precision_; }

  // Hash of a name or an alias. Sorted by hash, names before aliases.
  struct Key {
    std::uint32_t hash;
    std::uint32_t alias : 1;
    std::uint32_t index : 31;
  };
  std::span<const Key> keys() const { return keys_; }

  // Of tools: whether the `outputSchema` of one is not of type "object", which only the modern era allows. A derived
  // list may say so although it has left out that tool.
  bool has_modern_output() const { return modern_output_; }
  // Of tools: whether one can be called only as a task, which only 2025-11-25 has. A derived list may say so although
  // it has left out that tool.
  bool has_task_only() const { return task_only_; }

  // Returns what was left out, at most kMaxOmissions entries; `omitted` counts all.
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
  // Storage for what few definitions need.
  std::forward_list<std::string> names_;
  std::forward_list<std::vector<mcp::MirroredParameter>> mirrored_;
  std::forward_list<mcp::UriPattern> patterns_;
  std::forward_list<std::shared_ptr<const ShapedTool>> shaped_;
  std::vector<Omission> omissions_;
  std::size_t omitted_ = 0;
  bool modern_output_ = false;
  bool task_only_ = false;
  Pointer origin_;  // of a derived list: owns names and patterns
};

}  // namespace proteus::catalog
