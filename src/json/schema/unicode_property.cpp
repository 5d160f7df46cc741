#include "json/schema/unicode_property.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace proteus::json::schema {
namespace {

// Long names of General_Category values and their short aliases (Unicode's PropertyValueAliases). RE2 only knows the
// short ones.
constexpr auto kCategories = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"Cased_Letter", "LC"},
    {"Close_Punctuation", "Pe"},
    {"Combining_Mark", "M"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Uppercase_Letter", "Lu"},
    {"cntrl", "Cc"},
    {"digit", "Nd"},
    {"punct", "P"},
});

std::string members_of_category(std::string_view name) {
  const auto* found = std::ranges::find(kCategories, name, &std::pair<std::string_view, std::string_view>::first);
  const std::string_view category = found == kCategories.end() ? name : found->second;
  if (category == "LC") return R"(\p{Lu}\p{Ll}\p{Lt})";
  return fmt::format(R"(\p{{{}}})", category);
}

}  // namespace

Result<std::string> unicode_property_members(std::string_view property) {
  const auto equals = property.find('=');
  const std::string_view name = property.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : property.substr(equals + 1);
  const std::string_view said = value.empty() ? name : value;
  const bool plain = !said.empty() && std::ranges::all_of(said, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!plain) return std::unexpected(errors::invalid(fmt::format("\\p{{{}}} is not a Unicode property", property)));

  if (equals == std::string_view::npos) {
    if (name == "ASCII") return R"(\x00-\x7f)";
    return members_of_category(name);
  }
  if (name == "General_Category" || name == "gc") return members_of_category(value);
  if (name == "Script" || name == "sc" || name == "Script_Extensions" || name == "scx") {
    return fmt::format(R"(\p{{{}}})", value);
  }
  return std::unexpected(errors::unsupported(fmt::format("the Unicode property {} is not supported", name)));
}

}  // namespace proteus::json::schema
