#include "admin/routes/dataset_routes.hpp"

#include <array>
#include <set>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using gateway::DatasetRegistry;
using gateway::DatasetState;

array to_array(const std::vector<std::string>& texts) { return array(texts.begin(), texts.end()); }

// Each type with the types that it links, once.
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
  if (const auto withdrawn = state.withdrawn.find(file.name); withdrawn != state.withdrawn.end()) {
    out.emplace("withdrawn",
                object{{"reason", withdrawn->second.reason}, {"at", datasets::write_instant(withdrawn->second.at)}});
  }
  if (file.plan) {
    const datasets::Mapping& mapping = file.plan->mapping();
    out.emplace("dsn_env", mapping.dsn_env);
    out.emplace("entity_types", to_array(mapping.entity_types()));
    out.emplace("relationship_types", to_array(mapping.relationship_types()));
    out.emplace("relationships", relationships(mapping));
  }
  array problems;
  for (const auto& problem : file.problems)
    problems.push_back(datasets::write_problem(problem));
  if (!problems.empty()) out.emplace("problems", std::move(problems));
  return out;
}

Task<Result<Answer>> list(DatasetRegistry& registry) {
  co_await registry.look();
  const auto state = registry.state();
  array all;
  for (const auto& file : state->content.files)
    all.push_back(document(*state, file));
  object out{{"datasets", std::move(all)}};
  array faults;
  for (const auto& fault : state->content.faults)
    faults.emplace_back(fault);
  if (!state->fault.empty()) faults.emplace_back(state->fault);
  if (!faults.empty()) out.emplace("faults", std::move(faults));
  // Of those whose files are gone there is nothing else to show.
  object gone;
  for (const auto& [name, withdrawal] : state->withdrawn) {
    if (state->content.find(name) == nullptr)
      gone.emplace(name, object{{"reason", withdrawal.reason}, {"at", datasets::write_instant(withdrawal.at)}});
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

Task<Result<Answer>> connect(DatasetRegistry& registry, AdminRequest& visit) {
  const std::string name = visit.variable("name");
  const auto connected = co_await registry.connect(name, visit.who());
  if (!connected) co_return std::unexpected(connected.error());
  co_return Answer{.body = show(registry, name)};
}

Task<Result<Answer>> disconnect(DatasetRegistry& registry, AdminRequest& visit) {
  const std::string name = visit.variable("name");
  const auto disconnected = co_await registry.disconnect(name, visit.who());
  if (!disconnected) co_return std::unexpected(disconnected.error());
  co_return Answer{.body = show(registry, name)};
}

}  // namespace

Routes dataset_routes(gateway::DatasetRegistry& registry) {
  return {
      {.method = "GET",
       .path = "/admin/datasets",
       .help = "Shows all datasets: their files, who ratified them, whether they are connected, and why not.",
       .handle = [&registry](AdminRequest&) { return list(registry); }},
      {.method = "POST",
       .path = "/admin/datasets/{name}/connect",
       .help = "Connects a ratified dataset, so that everybody who may see it gets its tool.",
       .effect = Effect::changes,
       .handle = [&registry](AdminRequest& visit) { return connect(registry, visit); }},
      {.method = "POST",
       .path = "/admin/datasets/{name}/disconnect",
       .help = "Disconnects a dataset, which removes its tool.",
       .effect = Effect::changes,
       .handle = [&registry](AdminRequest& visit) { return disconnect(registry, visit); }},
  };
}

}  // namespace proteus::admin
