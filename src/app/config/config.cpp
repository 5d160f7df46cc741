#include "app/config/config.hpp"

#include <unordered_map>

#include "base/environment.hpp"

namespace proteus::app {
namespace {

using ByName = std::unordered_map<std::string_view, const providers::UpstreamEntry*>;

ByName by_name(const Config& config) {
  ByName out;
  for (const auto& entry : config.upstreams)
    out.emplace(entry.settings.name, &entry);
  return out;
}

std::vector<std::string_view> common_order(const Config& config, const ByName& others) {
  std::vector<std::string_view> out;
  for (const auto& entry : config.upstreams) {
    if (others.contains(entry.settings.name)) out.emplace_back(entry.settings.name);
  }
  return out;
}

}  // namespace

const json::Binding<DatasetSettings>& dataset_binding() {
  static const json::Binding<DatasetSettings> binding{
      json::field("mappings", &DatasetSettings::mappings, json::text(),
                  "Directory of dataset mappings, relative to the file."),
      json::field("environment", &DatasetSettings::environment,
                  json::list(json::text({.max_bytes = 256, .check = check_variable_name}), "strings", {.most = 1000}),
                  "Environment variables with addresses of databases for which the admin API and the page may propose "
                  "and ratify datasets. None: only `proteus dataset` does."),
  };
  return binding;
}

bool Config::is_loopback_only() const {
  return server.listen.is_loopback() && (!server.ops_listen || server.ops_listen->is_loopback());
}

std::vector<std::string> Config::own_secret_variables() const {
  std::vector<std::string> out = {"PROTEUS_PEPPER", "PROTEUS_PEPPER_PREVIOUS", "PROTEUS_ADMIN_SECRET", "PROTEUS_STORE",
                                  "PROTEUS_REDIS"};
  for (const TokenSettings& token : auth.tokens)
    out.push_back(token.token_env);
  for (const AdminKey& key : admin.keys)
    out.push_back(key.secret_env);
  out.push_back(search.embeddings.token_env);
  out.push_back(cluster.store_env);
  out.push_back(cluster.redis_env);
  std::erase(out, "");  // those that are in files
  return out;
}

UpstreamChanges compare_upstreams(const Config& before, const Config& after) {
  const ByName old_ones = by_name(before);
  const ByName new_ones = by_name(after);
  UpstreamChanges changes;
  for (const auto& entry : before.upstreams) {
    if (!new_ones.contains(entry.settings.name)) changes.removed.push_back(entry.settings.name);
  }
  for (const auto& entry : after.upstreams) {
    const auto found = old_ones.find(entry.settings.name);
    if (found == old_ones.end()) {
      changes.added.push_back(entry.settings.name);
    } else if (!(found->second->settings == entry.settings)) {
      changes.changed.push_back(entry.settings.name);
    }
  }
  changes.reordered = common_order(before, new_ones) != common_order(after, old_ones);
  return changes;
}

}  // namespace proteus::app
