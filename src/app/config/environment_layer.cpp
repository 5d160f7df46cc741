#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "app/config/source_reader.hpp"

namespace proteus::app {
namespace {

// Returns nothing for an empty variable: as in most programs, empty means unset.
std::optional<std::string> value_of(const Environment& environment, const std::string& name) {
  auto value = environment(name);
  if (value && value->empty()) return std::nullopt;
  return value;
}

void apply_listen(const Environment& environment, ListenAddress& listen, Diagnostics& diagnostics) {
  const auto refuse = [&](const char* name, const Error& error) {
    diagnostics.add(Severity::fault, name, error.message());
  };
  if (const auto text = value_of(environment, "PROTEUS_LISTEN")) {
    auto address = ListenAddress::parse(*text);
    if (!address) return refuse("PROTEUS_LISTEN", address.error());
    listen = std::move(*address);
    return;
  }
  if (const auto text = value_of(environment, "HOST")) {
    auto host = parse_listen_host(*text);
    if (!host) refuse("HOST", host.error());
    if (host) listen.host = std::move(*host);
  }
  if (const auto text = value_of(environment, "PORT")) {
    const auto port = parse_port(*text);
    if (!port) refuse("PORT", port.error());
    if (port) listen.port = *port;
  }
}

// Replaces the rules of the file with a comma-separated list.
void apply_egress(const Environment& environment, EgressSettings& egress, Diagnostics& diagnostics) {
  constexpr const char* kVariable = "PROTEUS_EGRESS_ALLOW";
  const auto text = value_of(environment, kVariable);
  if (!text) return;
  boost::json::array allow;
  for (const auto part : std::views::split(*text, ',')) {
    std::string_view entry(part.begin(), part.end());
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    allow.emplace_back(entry.substr(0, entry.find_last_not_of(' ') + 1));
  }
  json::Faults faults;
  egress_binding().read(boost::json::object{{"allow", std::move(allow)}}, egress, json::Place(faults));
  for (const json::Fault& fault : faults.all())
    diagnostics.add(Severity::fault, kVariable, fault.message);
}

// Processes that share a configuration file have different addresses.
void apply_peer_url(const Environment& environment, ClusterSettings& cluster, Diagnostics& diagnostics) {
  constexpr const char* kVariable = "PROTEUS_PEER_URL";
  const auto text = value_of(environment, kVariable);
  if (!text || !cluster.enabled) return;
  json::Faults faults;
  cluster_binding().read(boost::json::object{{"peer_url", *text}}, cluster, json::Place(faults));
  for (const json::Fault& fault : faults.all())
    diagnostics.add(Severity::fault, kVariable, fault.message);
}

// An empty secret is a fault: otherwise a generated secret would silently take its place.
void take_secret(const Environment& environment, const std::string& name, std::optional<Secret>& onto,
                 Diagnostics& diagnostics) {
  auto value = environment(name);
  if (!value) return;
  if (value->empty()) return diagnostics.add(Severity::fault, name, "is set, but empty");
  onto = Secret(std::move(*value));
}

}  // namespace

void apply_environment(const Environment& environment, Config& config, Diagnostics& diagnostics) {
  apply_listen(environment, config.server.listen, diagnostics);
  if (const auto levels = value_of(environment, "PROTEUS_LOG")) {
    if (const auto applied = log::apply(*levels, config.log); !applied) {
      diagnostics.add(Severity::fault, "PROTEUS_LOG", applied.error().message());
    }
  }
  if (auto data = value_of(environment, "PROTEUS_DATA")) config.data_directory = std::move(*data);
  if (auto mappings = value_of(environment, "PROTEUS_MAPPINGS")) {
    config.datasets.mappings = std::move(*mappings);
    config.datasets.named = true;
  }
  apply_egress(environment, config.egress, diagnostics);
  apply_peer_url(environment, config.cluster, diagnostics);
  take_secret(environment, "PROTEUS_PEPPER", config.secrets.pepper, diagnostics);
  take_secret(environment, "PROTEUS_PEPPER_PREVIOUS", config.secrets.previous_pepper, diagnostics);
  take_secret(environment, "PROTEUS_ADMIN_SECRET", config.secrets.admin_secret, diagnostics);
}

void apply_upstream_environment(const Environment& environment, providers::UpstreamSettings& defaults,
                                Diagnostics& diagnostics) {
  const auto apply = [&](const char* variable, const char* key, const boost::json::value& value) {
    json::Faults faults;
    providers::read_upstream_defaults(boost::json::object{{key, value}}, defaults, json::Place(faults));
    for (const json::Fault& fault : faults.all())
      diagnostics.add(Severity::fault, variable, fault.message);
  };
  if (const auto strategy = value_of(environment, "PROTEUS_DEFAULT_REFRESH_STRATEGY"))
    apply("PROTEUS_DEFAULT_REFRESH_STRATEGY", "refresh_strategy", boost::json::value(*strategy));
  if (const auto flag = value_of(environment, "PROTEUS_META_PROPAGATION")) {
    if (*flag == "true" || *flag == "false") {
      defaults.meta_propagation_enabled = *flag == "true";
    } else {
      diagnostics.add(Severity::fault, "PROTEUS_META_PROPAGATION", "must be true or false");
    }
  }
}

void apply_overrides(const Overrides& overrides, Config& config, Diagnostics& diagnostics) {
  if (overrides.listen) {
    auto address = ListenAddress::parse(*overrides.listen);
    if (!address) diagnostics.add(Severity::fault, "--listen", address.error().message());
    if (address) config.server.listen = std::move(*address);
  }
  if (overrides.data) {
    if (overrides.data->empty()) diagnostics.add(Severity::fault, "--data", "must be a directory");
    config.data_directory = *overrides.data;
  }
}

}  // namespace proteus::app
