#include "gateway/datasets/dataset_definitions.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace proteus::gateway::dataset_definitions {
namespace {

using boost::json::array;
using boost::json::object;
using datasets::WorkupRequest;

constexpr std::size_t kTypesInDescription = 30;

object text(std::string_view description) { return {{"type", "string"}, {"description", description}}; }
object list_of(object items) { return {{"type", "array"}, {"items", std::move(items)}}; }
object nullable(object schema) {
  const auto type = schema["type"];
  schema["type"] = array{type, "null"};
  return schema;
}

object closed(object properties, array required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

object open(object properties, array required) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

object workup_properties() {
  return {{"entity",
           {{"type", "string"},
            {"minLength", 1},
            {"maxLength", WorkupRequest::kLongestEntity},
            {"description",
             "Who or what to look up: an id, a name, an alias, the beginning of a name, or the ref of a candidate"}}},
          {"type",
           {{"type", "string"},
            {"maxLength", 256},
            {"description", "Only entities of this type, where a name alone is ambiguous"}}},
          {"hops",
           {{"type", "integer"},
            {"minimum", 1},
            {"maximum", WorkupRequest::kMaxHops},
            {"default", 1},
            {"description", "How far the neighbourhood reaches"}}},
          {"limit",
           {{"type", "integer"},
            {"minimum", 1},
            {"maximum", WorkupRequest::kMaxLimit},
            {"default", 50},
            {"description", "At most so many relationships and neighbours"}}}};
}

object reference(object more = {}) {
  object properties{{"ref", text("Tells it from all others of the dataset; takes the place of a name")},
                    {"id", text("Its id in the source")},
                    {"type", text("What it is")},
                    {"name", text("What it is called")}};
  array required{"ref", "id", "type", "name"};
  for (auto& member : more) {
    properties[member.key()] = member.value();
    required.emplace_back(member.key());
  }
  return open(std::move(properties), std::move(required));
}

object cites() { return list_of({{"type", "string"}}); }

std::string types(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < kTypesInDescription; ++i)
    all += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kTypesInDescription) all += fmt::format(" and {} more", names.size() - kTypesInDescription);
  return all;
}

object read_only() { return {{"readOnlyHint", true}, {"idempotentHint", true}, {"openWorldHint", false}}; }

std::string workup_tool(const datasets::Mapping& mapping) {
  std::string description = fmt::format(
      "Look up one entity of the dataset {0} and get what is known about it: attributes, relationships in both "
      "directions, its neighbourhood, gaps, and for every fact a citation of the row it comes from. Reads the source "
      "now, "
      "and only reads.\n",
      mapping.name);
  if (!mapping.description.empty()) description += mapping.description + "\n";
  description += fmt::format("Entity types: {}.", types(mapping.entity_types()));
  if (!mapping.relationships.empty())
    description += fmt::format("\nRelationship types: {}.", types(mapping.relationship_types()));
  return boost::json::serialize(object{{"name", DatasetRegistry::tool_of(mapping.name)},
                                       {"title", fmt::format("Look up in {}", mapping.name)},
                                       {"description", description},
                                       {"inputSchema", own_workup_arguments()},
                                       {"outputSchema", workup_output()},
                                       {"annotations", read_only()}});
}

}  // namespace

object no_arguments() { return {{"type", "object"}, {"properties", object{}}, {"additionalProperties", false}}; }

object name_argument() {
  return closed({{"name", {{"type", "string"}, {"description", "The name of a dataset, as list_datasets gives it"}}}},
                {"name"});
}

object own_workup_arguments() { return closed(workup_properties(), {"entity"}); }

object workup_arguments() {
  object properties = workup_properties();
  properties["dataset"] = {{"type", "string"}, {"description", "The name of a connected dataset"}};
  return closed(std::move(properties), {"entity", "dataset"});
}

object list_output() {
  return open(
      {{"datasets", list_of(open({{"name", text("For connect_dataset and workup")},
                                  {"description", text("What is in it")},
                                  {"entity_types", list_of({{"type", "string"}})},
                                  {"relationship_types", list_of({{"type", "string"}})},
                                  {"connected", {{"type", "boolean"}}},
                                  {"tool", text("The tool to look things up with, once it is connected")},
                                  {"access", {{"type", "string"}, {"const", "read-only"}}}},
                                 {"name", "entity_types", "relationship_types", "connected", "tool", "access"}))}},
      {"datasets"});
}

object connect_output() {
  return open({{"dataset", text("Its name")},
               {"tool", text("The tool to look things up with")},
               {"status", {{"type", "string"}, {"enum", {"connected", "already_connected"}}}},
               {"entity_types", list_of({{"type", "string"}})},
               {"access", {{"type", "string"}, {"const", "read-only"}}}},
              {"dataset", "tool", "status", "entity_types", "access"});
}

object workup_output() {
  const object entity = nullable(reference({{"attributes", {{"type", "object"}}}, {"cites", cites()}}));
  const object edge =
      open({{"from", text("A ref")}, {"type", text("What it is")}, {"to", text("A ref")}, {"cites", cites()}},
           {"from", "type", "to", "cites"});
  const object around = open({{"nodes", list_of(reference({{"hops", {{"type", "integer"}}}, {"cites", cites()}}))},
                              {"edges", list_of(edge)},
                              {"hops", {{"type", "integer"}}},
                              {"truncated", {{"type", "boolean"}}}},
                             {"nodes", "edges", "hops", "truncated"});
  const object link = open({{"type", text("What it is")},
                            {"direction", {{"type", "string"}, {"enum", {"outgoing", "incoming"}}}},
                            {"peer", reference()},
                            {"cites", cites()}},
                           {"type", "direction", "peer", "cites"});
  const object gap = open({{"kind", {{"type", "string"}}}, {"message", {{"type", "string"}}}, {"cites", cites()}},
                          {"kind", "message", "cites"});
  const object origin = open({{"id", text("What cites refer to")},
                              {"table", text("Of the source")},
                              {"operation", text("How the row was found")},
                              {"keys", {{"type", "object"}, {"description", "Of the row"}}}},
                             {"id", "table", "operation", "keys"});
  return open({{"status", {{"type", "string"}, {"enum", {"found", "ambiguous", "not_found"}}}},
               {"dataset", {{"type", "string"}}},
               {"resolution", nullable(text("How it was found: ref, id, name, alias, case_insensitive or prefix"))},
               {"candidates", list_of(reference({{"cites", cites()}}))},
               {"entity", entity},
               {"relationships", list_of(link)},
               {"neighbourhood", around},
               {"gaps", list_of(gap)},
               {"provenance", list_of(origin)},
               {"mapping_sha256", text("Of the ratified mapping that was read through")}},
              {"status", "dataset", "resolution", "candidates", "entity", "relationships", "neighbourhood", "gaps",
               "provenance", "mapping_sha256"});
}

std::vector<std::string> write_tools(const DatasetState& state) {
  std::vector<std::string> tools;
  if (!state.offered) return tools;
  tools.reserve(3 + state.connected.size());
  tools.push_back(boost::json::serialize(object{
      {"name", "list_datasets"},
      {"title", "List datasets"},
      {"description",
       "List the datasets that a person has approved: what each holds, and whether it is connected. Connect one with "
       "connect_dataset before you look anything up in it. All access is read-only."},
      {"inputSchema", no_arguments()},
      {"outputSchema", list_output()},
      {"annotations", read_only()}}));
  tools.push_back(boost::json::serialize(object{
      {"name", "connect_dataset"},
      {"title", "Connect a dataset"},
      {"description",
       "Connect an approved dataset by its name. A tool workup_<name> appears and can be called at once; list the "
       "tools "
       "again to see it. Connecting one that is connected changes nothing. Only names that list_datasets gives are "
       "taken, "
       "never addresses or paths."},
      {"inputSchema", name_argument()},
      {"outputSchema", connect_output()},
      {"annotations",
       {{"readOnlyHint", false}, {"destructiveHint", false}, {"idempotentHint", true}, {"openWorldHint", false}}}}));
  tools.push_back(boost::json::serialize(object{
      {"name", "workup"},
      {"title", "Look up in a dataset"},
      {"description",
       "Look up one entity in a connected dataset and get what is known about it: attributes, relationships in both "
       "directions, its neighbourhood, gaps, and for every fact a citation of the row it comes from. Where a name is "
       "ambiguous the candidates are listed; ask again with the ref of one. Reads the source now, and only reads."},
      {"inputSchema", workup_arguments()},
      {"outputSchema", workup_output()},
      {"annotations", read_only()}}));
  for (const auto& [name, plan] : state.connected) {
    if (plan) tools.push_back(workup_tool(plan->mapping()));
  }
  return tools;
}

}  // namespace proteus::gateway::dataset_definitions
