#include "json/schema/dialect.hpp"

#include <array>

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/schema/metaschemas.hpp"
#include "json/schema/uri.hpp"

namespace proteus::json::schema {
namespace {

constexpr Dialect kDraft7{.draft = Draft::draft7, .unevaluated = false};
constexpr Dialect kDraft2020{};

constexpr auto kDraft7Applicators = std::to_array<Applicator>({
    {"additionalItems", Nesting::schema},
    {"additionalProperties", Nesting::schema},
    {"allOf", Nesting::list},
    {"anyOf", Nesting::list},
    {"contains", Nesting::schema},
    {"definitions", Nesting::members},
    {"dependencies", Nesting::schemas_or_names},
    {"else", Nesting::schema},
    {"if", Nesting::schema},
    {"items", Nesting::schema_or_list},
    {"not", Nesting::schema},
    {"oneOf", Nesting::list},
    {"patternProperties", Nesting::members},
    {"properties", Nesting::members},
    {"propertyNames", Nesting::schema},
    {"then", Nesting::schema},
});

constexpr auto kDraft2020Applicators = std::to_array<Applicator>({
    {"$defs", Nesting::members},
    {"additionalProperties", Nesting::schema},
    {"allOf", Nesting::list},
    {"anyOf", Nesting::list},
    {"contains", Nesting::schema},
    {"contentSchema", Nesting::schema},
    {"definitions", Nesting::members},
    {"dependencies", Nesting::schemas_or_names},
    {"dependentSchemas", Nesting::members},
    {"else", Nesting::schema},
    {"if", Nesting::schema},
    {"items", Nesting::schema},
    {"not", Nesting::schema},
    {"oneOf", Nesting::list},
    {"patternProperties", Nesting::members},
    {"prefixItems", Nesting::list},
    {"properties", Nesting::members},
    {"propertyNames", Nesting::schema},
    {"then", Nesting::schema},
    {"unevaluatedItems", Nesting::schema},
    {"unevaluatedProperties", Nesting::schema},
});

constexpr std::string_view kVocabulary = "https://json-schema.org/draft/2020-12/vocab/";

}  // namespace

std::span<const Applicator> applicators(Draft draft) {
  if (draft == Draft::draft7) return kDraft7Applicators;
  return kDraft2020Applicators;
}

Result<Dialect> dialect_of_vocabularies(const boost::json::value& vocabulary) {
  const auto* named = vocabulary.if_object();
  if (named == nullptr) return std::unexpected(errors::invalid("\"$vocabulary\" must be an object"));
  Dialect dialect{.applicators = false, .assertions = false, .unevaluated = false};
  for (const auto& member : *named) {
    const std::string_view uri(member.key().data(), member.key().size());
    const std::string_view name = uri.starts_with(kVocabulary) ? uri.substr(kVocabulary.size()) : "";
    if (name == "applicator") {
      dialect.applicators = true;
    } else if (name == "validation") {
      dialect.assertions = true;
    } else if (name == "unevaluated") {
      dialect.unevaluated = true;
    } else if (name == "core" || name == "meta-data" || name == "format-annotation" || name == "content") {
      continue;
    } else if (const bool* required = member.value().if_bool(); required == nullptr || *required) {
      return std::unexpected(
          errors::unsupported(fmt::format("the vocabulary {} is required and not supported", log::printable(uri))));
    }
  }
  return dialect;
}

const Dialect* standard_dialect(std::string_view schema_uri) {
  const auto [uri, fragment] = split_fragment(schema_uri);
  if (!fragment.empty()) return nullptr;
  // Schemas in practice use both schemes for both drafts, with the same meaning.
  const auto behind_scheme = [](std::string_view text) { return text.substr(std::min(text.size(), text.find("//"))); };
  if (!uri.starts_with("http://") && !uri.starts_with("https://")) return nullptr;
  if (behind_scheme(uri) == behind_scheme(kDraft2020Uri)) return &kDraft2020;
  if (behind_scheme(uri) == behind_scheme(kDraft7Uri)) return &kDraft7;
  return nullptr;
}

Error unsupported_dialect(std::string_view schema_uri) {
  return errors::unsupported(fmt::format("the dialect {} is not supported; supported are {} and {}#",
                                         log::printable(schema_uri), kDraft2020Uri, kDraft7Uri));
}

}  // namespace proteus::json::schema
