#include <memory>

#include <fmt/format.h>

#include "catalog/contexts/context.hpp"
#include "json/message.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::catalog {

std::string_view to_string(PartOf origin) {
  switch (origin) {
    case PartOf::schema: return "schema";
    case PartOf::supplement: return "supplement";
    case PartOf::siblings: return "siblings";
  }
  return "schema";
}

std::string context_path(std::string_view name) { return fmt::format("/mcp/{}", name); }

std::string sibling_text(std::span<const Sibling> siblings) {
  if (siblings.empty()) return {};
  std::string all;
  for (const Sibling& sibling : siblings) {
    if (!all.empty()) all += ", ";
    all += sibling.name;
    if (!sibling.display_name.empty() && sibling.display_name != sibling.name)
      all += fmt::format(" ({})", sibling.display_name);
    all += fmt::format(" at {}", context_path(sibling.name));
  }
  return fmt::format("Related contexts, each with an endpoint of its own: {}.", all);
}

std::string append_to_description(std::string_view definition, std::string_view more) {
  if (more.empty()) return std::string(definition);
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(definition, storage);
  if (!members) return std::string(definition);
  json::Splice splice(definition);
  const std::string_view before = members->value("description");
  if (before.empty()) {
    const std::string added = fmt::format(R"("description":{})", json::quote(more));
    json::edit_members(splice, definition, *members, [](const json::Member&) { return false; }, added);
    return splice.str();
  }
  constexpr std::string_view kEmpty = R"("")";
  const std::string added = json::quote(before == kEmpty ? std::string(more) : fmt::format("\n\n{}", more));
  // Inserts before the closing quote, so that the existing text keeps its own escapes.
  splice.insert_before(before.substr(before.size() - 1), std::string_view(added).substr(1, added.size() - 2));
  return splice.str();
}

std::string write_context(const Context& context, std::span<const Sibling> siblings) {
  const auto strings = [](const std::vector<std::string>& all) {
    std::string out = "[";
    for (const auto& one : all)
      out += fmt::format("{}{}", out.size() > 1 ? "," : "", json::quote(one));
    return out + "]";
  };
  const ContextManifest& manifest = context.manifest();
  std::string out = fmt::format(R"({{"name":{},"display_name":{},"endpoint":{})", json::quote(context.name()),
                                json::quote(context.display_name()), json::quote(context_path(context.name())));
  out += R"(,"siblings":[)";
  for (const Sibling& sibling : siblings) {
    out += fmt::format(R"({}{{"name":{},"display_name":{},"endpoint":{}}})", out.back() == '[' ? "" : ",",
                       json::quote(sibling.name),
                       json::quote(sibling.display_name.empty() ? sibling.name : sibling.display_name),
                       json::quote(context_path(sibling.name)));
  }
  out += fmt::format(R"(],"schemas":{})", strings(manifest.schemas));
  if (!manifest.dataset.empty()) {
    const DatasetTypes types = context.types().value_or(DatasetTypes{});
    out += fmt::format(R"(,"dataset":{},"entity_types":{},"relationship_types":{})", json::quote(manifest.dataset),
                       strings(types.entities), strings(types.relationships));
  }
  out += R"(,"example_queries":[)";
  for (const ExampleQuery& query : manifest.example_queries) {
    out += fmt::format(R"({}{{"title":{},"text":{}}})", out.back() == '[' ? "" : ",", json::quote(query.title),
                       json::quote(query.text));
  }
  return out + "]}";
}

}  // namespace proteus::catalog
