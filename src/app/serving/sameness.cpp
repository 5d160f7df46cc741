#include "app/serving/sameness.hpp"

#include <algorithm>
#include <filesystem>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "admin/routes/process_routes.hpp"
#include "base/log/log.hpp"
#include "cluster/peers/roster.hpp"
#include "gateway/operate/upstream_hash.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"

namespace proteus::app {
namespace {

constexpr std::size_t kHashDigits = 12;

std::string short_hash(std::string_view text) { return json::hex(json::sha256(text)).substr(0, kHashDigits); }

// Removes keys that concern only one process.
boost::json::object without(boost::json::object written, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    written.erase(key);
  return written;
}

// Processes may have the same files in different directories.
void keep_file_names(boost::json::object& written, std::string_view list, std::string_view key) {
  auto* const items = written.if_contains(list);
  if (items == nullptr) return;
  for (auto& item : items->as_array()) {
    if (auto* const file = item.as_object().if_contains(key))
      *file = std::filesystem::path(std::string_view(file->as_string())).filename().string();
  }
}

boost::json::object facts_of(std::string_view text) {
  const auto parsed = json::parse(text);
  return parsed && parsed->is_object() ? parsed->get_object() : boost::json::object();
}

}  // namespace

std::string configuration_hash(const Config& config) {
  boost::json::array all;
  all.emplace_back(without(server_binding().write(config.server),
                           {"listen", "ops_listen", "threads", "tls", "grace", "trusted_proxies"}));
  boost::json::object auth = auth_binding().write(config.auth);
  keep_file_names(auth, "tokens", "token_file");
  all.emplace_back(std::move(auth));
  boost::json::object operators = admin_binding().write(config.admin);
  keep_file_names(operators, "keys", "secret_file");
  all.emplace_back(std::move(operators));
  all.emplace_back(session_binding().write(config.sessions));
  all.emplace_back(egress_binding().write(config.egress));
  all.emplace_back(limit_binding().write(config.limits));
  all.emplace_back(search_binding().write(config.search));
  all.emplace_back(providers::upstream_binding().write(config.upstream_defaults));
  for (const auto& entry : config.upstreams)
    all.emplace_back(boost::json::array{entry.settings.name, gateway::hash_of(entry)});
  for (const auto& [name, context] : config.contexts)
    all.emplace_back(boost::json::array{name, context_binding().write(context)});
  for (const auto& [name, schema] : config.schemas)
    all.emplace_back(boost::json::array{name, schema_binding().write(schema)});
  return short_hash(boost::json::serialize(all));
}

std::string mappings_hash(const datasets::DirectoryContent& content) {
  std::string all;
  for (const auto& file : content.files) {
    if (file.status == datasets::DatasetStatus::ratified) all += fmt::format("{} {}\n", file.name, file.sha256);
  }
  return short_hash(all);
}

Traits::Traits(std::string name, std::string since, const Config& config)
    : name_(std::move(name)), since_(std::move(since)), configuration_(configuration_hash(config)) {}

void Traits::configured(const Config& config) {
  std::string hash = configuration_hash(config);
  const std::scoped_lock lock(mutex_);
  configuration_ = std::move(hash);
}

std::string Traits::write(const gateway::DatasetState* datasets) {
  boost::json::object facts{{"name", name_}, {"version", PROTEUS_VERSION}, {"since", since_}};
  {
    const std::scoped_lock lock(mutex_);
    facts["configuration"] = configuration_;
  }
  if (!peer_url_.empty()) facts[cluster::Roster::kUrlFact] = peer_url_;
  if (datasets != nullptr) facts["mappings"] = mappings_hash(datasets->content);
  return boost::json::serialize(facts);
}

void Sameness::look(std::string_view facts, const std::vector<store::MemberRecord>& others) {
  const boost::json::object own = facts_of(facts);
  std::map<std::string, std::vector<std::string_view>> differences;
  for (const auto& other : others) {
    if (auto what = admin::differing_facts(own, facts_of(other.facts)); !what.empty())
      differences.emplace(other.name, std::move(what));
  }
  bool configuration = false;
  bool mappings = false;
  for (const auto& [process, what] : differences) {
    configuration = configuration || std::ranges::find(what, "configuration") != what.end();
    mappings = mappings || std::ranges::find(what, "mappings") != what.end();
    const auto before = differences_.find(process);
    if (before != differences_.end() && before->second == what) continue;
    log::warning(
        "process {} has other {} than this one: callers see something else there; GET /admin/processes shows "
        "all of them",
        process, fmt::join(what, " and "));
  }
  for (const auto& [process, what] : differences_) {
    if (!differences.contains(process)) log::info("process {} no longer differs from this one", process);
  }
  differences_ = std::move(differences);
  configuration_ = configuration;
  mappings_ = mappings;
}

std::string Sameness::describe() const {
  const auto word = [](bool differs) { return differs ? "differs" : "same"; };
  return fmt::format(R"(,"configuration":"{}","mappings":"{}")", word(configuration_), word(mappings_));
}

}  // namespace proteus::app
