#include "admin/routes/dataset_routes.hpp"

#include <array>
#include <set>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using gateway::DatasetRegistry;
using gateway::DatasetState;
using gateway::DatasetWorkshop;

array to_array(const std::vector<std::string>& texts) { return array(texts.begin(), texts.end()); }

// Returns each relationship type with the entity types that it links, without duplicates.
array relationships(const datasets::Mapping& mapping) {
  std::set<std::array<std::string_view, 3>> known;
  array out;
  for (const auto& one : mapping.relationships) {
    const auto* const from = mapping.entity_of(one.from_table);
    const auto* const to = mapping.entity_of(one.to_table);
    if (from == nullptr || to == nullptr || !known.insert({one.type, from->type, to->type}).second) continue;
    out.push_back(object{{"type", one.type}, {"from", from->type}, {"to", to->type}});
  }
  return out;
}

array write_problems(const datasets::Problems& problems) {
  array out;
  for (const auto& problem : problems)
    out.push_back(datasets::write_problem(problem));
  return out;
}

object write_withdrawal(const DatasetState::Withdrawal& withdrawal) {
  return {{"reason", withdrawal.reason}, {"at", datasets::write_instant(withdrawal.at)}};
}

object document(const DatasetState& state, const datasets::DatasetFile& file) {
  object out{{"name", file.name}, {"file", file.file}, {"hash", file.sha256}, {"status", to_string(file.status)}};
  const bool connected = !file.name.empty() && state.connected.contains(file.name);
  out.emplace("connected", connected);
  if (!file.reason.empty()) out.emplace("reason", file.reason);
  if (file.ratified) {
    const char* const key = file.ratified->revoked ? "revoked" : "ratified";
    out.emplace(key, object{{"by", file.ratified->by}, {"at", datasets::write_instant(file.ratified->at)}});
  }
  if (connected) out.emplace("tool", DatasetRegistry::tool_of(file.name));
  if (const auto withdrawn = state.withdrawn.find(file.name); withdrawn != state.withdrawn.end())
    out.emplace("withdrawn", write_withdrawal(withdrawn->second));
  if (file.plan) {
    const datasets::Mapping& mapping = file.plan->mapping();
    out.emplace("dsn_env", mapping.dsn_env);
    out.emplace("entity_types", to_array(mapping.entity_types()));
    out.emplace("relationship_types", to_array(mapping.relationship_types()));
    out.emplace("relationships", relationships(mapping));
  }
  if (!file.problems.empty()) out.emplace("problems", write_problems(file.problems));
  return out;
}

Task<Result<Answer>> list(DatasetRegistry& registry, const DatasetWorkshop& workshop) {
  co_await registry.look();
  const auto state = registry.state();
  array all;
  for (const auto& file : state->content.files)
    all.push_back(document(*state, file));
  object out{{"datasets", std::move(all)}, {"environment", to_array(workshop.variables())}};
  array faults;
  for (const auto& fault : state->content.faults)
    faults.emplace_back(fault);
  if (!state->fault.empty()) faults.emplace_back(state->fault);
  if (!faults.empty()) out.emplace("faults", std::move(faults));
  // Nothing else is known of withdrawn datasets whose files are gone.
  object gone;
  for (const auto& [name, withdrawal] : state->withdrawn) {
    if (state->content.find(name) == nullptr) gone.emplace(name, write_withdrawal(withdrawal));
  }
  if (!gone.empty()) out.emplace("withdrawn", std::move(gone));
  co_return Answer{.body = boost::json::serialize(out)};
}

std::string show(const DatasetRegistry& registry, std::string_view name) {
  const auto state = registry.state();
  const auto* file = state->content.find(name);
  return file == nullptr ? boost::json::serialize(object{{"name", name}, {"connected", false}})
                         : boost::json::serialize(document(*state, *file));
}

Task<Result<Answer>> connect(DatasetRegistry& registry, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto connected = co_await registry.connect(name, request.who());
  if (!connected) co_return std::unexpected(connected.error());
  co_return Answer{.body = show(registry, name)};
}

Task<Result<Answer>> disconnect(DatasetRegistry& registry, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto disconnected = co_await registry.disconnect(name, request.who());
  if (!disconnected) co_return std::unexpected(disconnected.error());
  co_return Answer{.body = show(registry, name)};
}

// Returns a string member of the body, or `usual` if it is missing.
Result<std::string> text_in(const boost::json::value& body, std::string_view key,
                            std::optional<std::string_view> usual = {}) {
  const auto* const members = body.if_object();
  const auto* const value = members == nullptr ? nullptr : members->if_contains(key);
  if (value == nullptr && usual && members != nullptr) return std::string(*usual);
  if (value == nullptr || !value->is_string())
    return std::unexpected(errors::invalid(fmt::format("the body must have `{}`, a text", key)));
  return std::string(value->get_string());
}

void add_types(object& out, const datasets::Mapping& mapping) {
  out.emplace("name", mapping.name);
  out.emplace("entity_types", to_array(mapping.entity_types()));
  out.emplace("relationship_types", to_array(mapping.relationship_types()));
  out.emplace("relationships", relationships(mapping));
}

Task<Result<Answer>> propose(DatasetWorkshop& workshop, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  auto name = text_in(*body, "name");
  auto variable = text_in(*body, "dsn_env");
  auto schema = text_in(*body, "schema", "public");
  for (const auto* const one : {&name, &variable, &schema}) {
    if (!*one) co_return std::unexpected(one->error());
  }
  const auto proposal =
      co_await workshop.propose({std::move(*name), std::move(*variable), std::move(*schema)}, request.who());
  if (!proposal) co_return std::unexpected(proposal.error());
  object out{{"draft", proposal->draft()}, {"problems", write_problems(proposal->problems)}};
  add_types(out, proposal->mapping);
  co_return Answer{.body = boost::json::serialize(out)};
}

Task<Result<Answer>> validate(DatasetWorkshop& workshop, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  auto mapping = text_in(*body, "mapping");
  if (!mapping) co_return std::unexpected(std::move(mapping.error()));
  const auto reviewed = co_await workshop.review(std::move(*mapping));
  if (!reviewed) co_return std::unexpected(reviewed.error());
  object out{{"ok", !datasets::any_refuses(reviewed->problems)}, {"problems", write_problems(reviewed->problems)}};
  if (reviewed->mapping) add_types(out, *reviewed->mapping);
  co_return Answer{.body = boost::json::serialize(out)};
}

Task<Result<Answer>> ratify(DatasetRegistry& registry, DatasetWorkshop& workshop, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  auto mapping = text_in(*body, "mapping");
  if (!mapping) co_return std::unexpected(std::move(mapping.error()));
  const auto ratified = co_await workshop.ratify(std::move(*mapping), request.who());
  if (!ratified) co_return std::unexpected(ratified.error());
  co_return Answer{.body = show(registry, ratified->name)};
}

Task<Result<Answer>> revoke(DatasetRegistry& registry, DatasetWorkshop& workshop, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto revoked = co_await workshop.revoke(name, request.who());
  if (!revoked) co_return std::unexpected(revoked.error());
  co_return Answer{.body = show(registry, name)};
}

Task<Result<Answer>> mapping(DatasetWorkshop& workshop, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto text = co_await workshop.mapping(name);
  if (!text) co_return std::unexpected(text.error());
  co_return Answer{.body = boost::json::serialize(object{{"name", name}, {"mapping", *text}})};
}

}  // namespace

Routes dataset_routes(gateway::DatasetRegistry& registry, gateway::DatasetWorkshop& workshop) {
  return {
      {.method = "GET",
       .path = "/admin/datasets",
       .answer = "Datasets",
       .help = "Shows all datasets: their files, who ratified them, whether they are connected, and why not.",
       .handle = [&registry, &workshop](AdminRequest&) { return list(registry, workshop); }},
      {.method = "POST",
       .path = "/admin/datasets/propose",
       .answer = "ProposedMapping",
       .help = "Drafts a mapping from the database that an environment variable leads to. It has no effect until it is "
               "ratified.",
       .effect = Effect::changes,
       .handle = [&workshop](AdminRequest& request) { return propose(workshop, request); }},
      {.method = "POST",
       .path = "/admin/datasets/validate",
       .answer = "ReviewedMapping",
       .help = "Checks a mapping against its database and the ontology, and says what is wrong.",
       .effect = Effect::changes,
       .handle = [&workshop](AdminRequest& request) { return validate(workshop, request); }},
      {.method = "POST",
       .path = "/admin/datasets/ratify",
       .answer = "Dataset",
       .help = "Approves a mapping that fits its database, so that it can be connected.",
       .effect = Effect::changes,
       .handle = [&registry, &workshop](AdminRequest& request) { return ratify(registry, workshop, request); }},
      {.method = "GET",
       .path = "/admin/datasets/{name}/mapping",
       .answer = "{ name: string; mapping: string }",
       .help = "Shows the text of a dataset's mapping.",
       .handle = [&workshop](AdminRequest& request) { return mapping(workshop, request); }},
      {.method = "POST",
       .path = "/admin/datasets/{name}/revoke",
       .answer = "Dataset",
       .help = "Revokes the approval of a dataset, which disconnects it.",
       .effect = Effect::changes,
       .handle = [&registry, &workshop](AdminRequest& request) { return revoke(registry, workshop, request); }},
      {.method = "POST",
       .path = "/admin/datasets/{name}/connect",
       .answer = "Dataset",
       .help = "Connects a ratified dataset, so that everybody who may see it gets its tool.",
       .effect = Effect::changes,
       .handle = [&registry](AdminRequest& request) { return connect(registry, request); }},
      {.method = "POST",
       .path = "/admin/datasets/{name}/disconnect",
       .answer = "Dataset",
       .help = "Disconnects a dataset, which removes its tool.",
       .effect = Effect::changes,
       .handle = [&registry](AdminRequest& request) { return disconnect(registry, request); }},
  };
}

}  // namespace proteus::admin
