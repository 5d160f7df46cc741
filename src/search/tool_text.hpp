#pragma once

#include <string>
#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::search {

// What is read of a tool: whoever writes more is not found by more.
inline constexpr std::size_t kTitleBytes = 256;
inline constexpr std::size_t kDescriptionBytes = std::size_t{4} * 1024;
inline constexpr std::size_t kParametersBytes = std::size_t{2} * 1024;
inline constexpr std::size_t kAboutBytes = std::size_t{1} * 1024;

// The texts by which a tool is found, field by field.
struct ToolText {
  std::string_view name;  // without the prefix of its upstream; points into the definition
  std::string title;
  std::string description;
  std::string parameters;  // their names
};
ToolText text_of(const catalog::DefinitionList& list, const catalog::Definition& tool);

// What an upstream says of itself: its name and title as a server, its description, the beginning of its instructions.
std::string about_of(const catalog::ProviderFacts& facts);

}  // namespace proteus::search
