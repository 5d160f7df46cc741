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

// What shaping did to a list of tools, for operators.
struct ShapeReport {
  std::vector<std::size_t> fitted;    // by shape: number of tools it fits
  std::vector<std::string> warnings;  // in words, at most kMost
  std::vector<Omission> omissions;    // tools left out because they cannot be shown as the shapes demand
  std::size_t hidden = 0;

  static constexpr std::size_t kMost = 1000;
  friend bool operator==(const ShapeReport&, const ShapeReport&) = default;
};

// How one upstream's tools are shown to callers. Applies after pins, which concern what the upstream itself lists, and
// before access rules and contexts, which concern what callers see. Immutable and thread-safe.
class Shape {
 public:
  // Patterns, names and values must have been checked. Patterns of prompts and resources fit no tool, which causes no
  // warning.
  explicit Shape(std::vector<ToolShape> tools);

  // Whether the shape leaves all tools as they are.
  bool is_plain() const { return plain_; }

  struct Shaped {
    DefinitionList::Pointer list;
    ShapeReport report;
  };
  // Returns a list of tools as callers see it; `list` itself if no shape fits or it lists another kind. Leaves out a
  // tool if no true definition can be made for it. Takes time linear in the list for each pattern with a wildcard.
  Result<Shaped> apply(const DefinitionList::Pointer& list, const ListLimits& limits) const;

 private:
  std::vector<std::size_t> fitting(std::string_view own) const;
  ToolShape joined(const std::vector<std::size_t>& shapes) const;
  void warn_of_unused(ShapeReport& report) const;

  const std::vector<ToolShape> tools_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;  // for patterns without a wildcard
  std::vector<std::pair<std::string, std::size_t>> by_pattern_;
  std::vector<bool> only_tools_;  // by shape: has only patterns of tools
  bool plain_ = true;
};

// Whether a pattern can fit more than one name.
bool has_wildcard(std::string_view pattern);

}  // namespace proteus::catalog
