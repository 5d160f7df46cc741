#include "datasets/propose/review.hpp"

#include <fmt/format.h>

#include "datasets/propose/validate.hpp"

namespace proteus::datasets {

Result<Introspection> introspect(const Environment& environment, const std::string& variable, const std::string& schema,
                                 const Patience& patience) {
  auto value = environment(variable);
  if (!value || value->empty())
    return std::unexpected(errors::invalid(fmt::format("the environment variable {} is not set", variable)));
  auto source = open_source(Secret(std::move(*value)), schema, patience);
  if (!source) return std::unexpected(std::move(source.error()).within(variable));
  auto found = (*source)->introspect(patience);
  if (!found) return std::unexpected(std::move(found.error()).within(variable));
  return found;
}

Result<Reviewed> review(std::string_view text, const std::optional<OntologyText>& ontology,
                        const Environment& environment, const Patience& patience) {
  Reviewed reviewed;
  std::optional<Ontology> types;
  if (ontology) {
    auto parsed = parse_ontology(ontology->text);
    if (parsed) types = std::move(*parsed);
    for (const Problem& problem : parsed ? Problems() : parsed.error())
      reviewed.problems.push_back({.kind = problem.kind, .message = show(ontology->file, problem)});
  }
  const auto parsed = parse_mapping(text);
  if (!parsed) {
    reviewed.problems.insert(reviewed.problems.end(), parsed.error().begin(), parsed.error().end());
    return reviewed;
  }
  reviewed.mapping = parsed->mapping;
  const auto source = introspect(environment, parsed->mapping.dsn_env, parsed->mapping.schema, patience);
  if (!source) return std::unexpected(source.error());
  const auto found = validate(*parsed, *source, types ? &*types : nullptr);
  reviewed.problems.insert(reviewed.problems.end(), found.begin(), found.end());
  return reviewed;
}

}  // namespace proteus::datasets
