#pragma once

#include <string>
#include <string_view>

#include "catalog/definitions/definition_list.hpp"
#include "catalog/definitions/snapshot.hpp"

namespace proteus::search {

// How much is read of a tool. Longer texts do not make a tool easier to find.
inline constexpr std::size_t kTitleBytes = 256;
inline constexpr std::size_t kDescriptionBytes = std::size_t{4} * 1024;
inline constexpr std::size_t kParametersBytes = std::size_t{2} * 1024;
inline constexpr std::size_t kAboutBytes = std::size_t{1} * 1024;

// The texts by which a tool is found, one for each field.
struct ToolText {
  std::string_view name;  // without the upstream's prefix; points into the definition
  std::string title;
  std::string description;
  std::string parameters;  // names of the parameters
};
ToolText text_of(const catalog::DefinitionList& list, const catalog::Definition& tool);

// What an upstream says about itself: its name, title and description as a server, and the beginning of its
// instructions.
std::string about_of(const catalog::ProviderFacts& facts);

}  // namespace proteus::search
