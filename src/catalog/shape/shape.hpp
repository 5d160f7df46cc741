#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/definitions/definition_list.hpp"
#include "catalog/shape/tool_shape.hpp"

namespace proteus::catalog {

// What shaping did to a list of tools, for an operator.
struct ShapeReport {
  std::vector<std::size_t> fitted;    // by shape: how many tools it fits
  std::vector<std::string> warnings;  // in words, at most so many
  std::vector<Omission> omissions;    // tools that cannot be shown as the shapes say, and are not shown
  std::size_t hidden = 0;

  static constexpr std::size_t kMost = 1000;
  friend bool operator==(const ShapeReport&, const ShapeReport&) = default;
};

// How one upstream's tools are shown to callers. Stands behind pins, which are about what the upstream itself lists,
// and in front of access and contexts, which are about what callers see. Immutable, and thread-safe.
class Shape {
 public:
  // The patterns, names and values have been checked. Patterns of prompts and resources fit nothing here, and nobody is
  // warned of that.
  explicit Shape(std::vector<ToolShape> tools);

  const std::vector<ToolShape>& tools() const { return tools_; }
  // Whether it leaves all tools as they are.
  bool is_plain() const { return plain_; }

  struct Shaped {
    DefinitionList::Pointer list;
    ShapeReport report;
  };
  // A list of tools as callers see it; itself where no shape fits. Lists of other kinds have no shapes. A tool that no
  // true definition can be made of is left out. Takes time linear in the list, for each pattern with a wildcard.
  Result<Shaped> apply(const DefinitionList::Pointer& list, const ListLimits& limits) const;

 private:
  std::vector<std::size_t> fitting(std::string_view own) const;
  ToolShape joined(const std::vector<std::size_t>& shapes) const;
  void warn_of_unused(ShapeReport& report) const;

  const std::vector<ToolShape> tools_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;  // of patterns without a wildcard
  std::vector<std::pair<std::string, std::size_t>> by_pattern_;
  std::vector<bool> only_tools_;  // by shape: it speaks of nothing else
  bool plain_ = true;
};

// Whether a pattern can fit more than one name.
bool has_wildcard(std::string_view pattern);

}  // namespace proteus::catalog
