#include "app/config/config.hpp"

#include "base/settings/environment.hpp"

namespace proteus::app {

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
  std::erase(out, "");  // entries without a variable
  return out;
}

}  // namespace proteus::app
