#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/definitions/definition_list.hpp"

namespace proteus::gateway {

// The names in one upstream's list of one kind: enough to find out whether the upstream has an entry. Immutable and
// thread-safe.
class ListedNames {
 public:
  using Pointer = std::shared_ptr<const ListedNames>;

  // Takes all pages of the list, in order; of equal names the first counts. The pages are needed only during the call.
  explicit ListedNames(std::span<const catalog::DefinitionList::Pointer> pages);

  // A listed entry. Lives as long as the names.
  struct Entry {
    std::string_view shown;  // what clients see
    std::string_view own;    // the upstream's own name
    bool read_only = false;  // a tool that declares itself read-only
    const catalog::ShapedTool* shaped = nullptr;
    std::shared_ptr<const std::vector<mcp::MirroredParameter>> mirrored = {};  // in headers; null for none
  };
  std::optional<Entry> find(std::string_view shown) const;
  // Finds an entry with a portable name by the prefix and its own name. Takes linear time.
  std::optional<Entry> find_alias(std::string_view alias) const;

  // Whether `test` accepts any shown name.
  template <class Test>
  bool any_shown(Test&& test) const {
    return std::ranges::any_of(names_, [&](const Name& name) { return test(shown(name)); });
  }
  // Whether the URI matches a template whose text `admits` accepts.
  template <class Admits>
  bool has_template_for(std::string_view uri, Admits&& admits) const {
    if (uri.size() > catalog::kLongestUri) return false;
    std::size_t steps = mcp::UriPattern::kSteps;  // for all of them
    for (const auto& [name, pattern] : patterns_) {
      if (pattern.matches(uri, steps) && admits(shown(names_[name]))) return true;
    }
    return false;
  }

  // Returns about how much memory this takes.
  std::size_t bytes() const;

 private:
  struct Name {  // places in the text
    std::uint32_t shown;
    std::uint32_t shown_size;
    std::uint32_t own;
    std::uint32_t own_size : 29;
    std::uint32_t read_only : 1;
    std::uint32_t shaped : 1;
    std::uint32_t renamed : 1;  // by an operator
  };
  Entry entry(const Name& name) const {
    Entry found{shown(name), own(name), name.read_only != 0,
                name.shaped != 0 ? shaped_.find(own(name))->second.get() : nullptr};
    if (mirrored_.empty()) return found;
    if (const auto parameters = mirrored_.find(own(name)); parameters != mirrored_.end())
      found.mirrored = parameters->second;
    return found;
  }
  std::string_view shown(const Name& name) const { return std::string_view(text_).substr(name.shown, name.shown_size); }
  std::string_view own(const Name& name) const { return std::string_view(text_).substr(name.own, name.own_size); }

  std::string prefix_;
  std::string text_;
  std::vector<Name> names_;  // sorted by shown name
  std::vector<std::pair<std::uint32_t, mcp::UriPattern>> patterns_;
  template <class T>
  using ByOwnName = std::map<std::string, std::shared_ptr<const T>, std::less<>>;
  ByOwnName<catalog::ShapedTool> shaped_;
  ByOwnName<std::vector<mcp::MirroredParameter>> mirrored_;
};

}  // namespace proteus::gateway
