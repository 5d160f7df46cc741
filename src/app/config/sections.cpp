#include "app/config/sections.hpp"

namespace proteus::app {
namespace {

using json::field;
using json::Place;
using Unread = Sections::Unread;

json::Codec<Unread> unread(std::string type, std::vector<json::KeyInfo> keys) {
  return {.type = std::move(type),
          .read = [](const boost::json::value& value, Unread& onto, const Place& /*place*/) { onto = &value; },
          .write = [](const Unread& /*value*/, json::Part /*part*/) -> std::optional<boost::json::value> { return {}; },
          .keys = std::move(keys)};
}

struct Defaults {
  Unread upstream = nullptr;
};

// Describes the keys that can be defaults.
std::vector<json::KeyInfo> default_keys() {
  json::KeyInfo upstream{
      .name = "upstream",
      .type = "table",
      .default_text = {},
      .meaning = "Any key of an upstream except `name`, `display_name`, `url`, `command` and `enabled`.",
      .keys = {}};
  return {upstream};
}

const json::Binding<Defaults>& defaults_binding() {
  static const json::Binding<Defaults> binding{
      field("upstream", &Defaults::upstream, unread("table", {}), "For every upstream."),
  };
  return binding;
}

json::Codec<Unread> upstream_defaults() {
  auto codec = unread("table", default_keys());
  codec.read = [](const boost::json::value& value, Unread& onto, const Place& place) {
    Defaults defaults;
    defaults_binding().read(value, defaults, place);
    onto = defaults.upstream;
  };
  return codec;
}

}  // namespace

const json::Binding<Sections>& sections_binding() {
  using S = Sections;
  static const json::Binding<S> binding{
      field("server", &S::server, json::table(server_binding()), "The listener."),
      field("auth", &S::auth, json::table(auth_binding()), "Who may call."),
      field("admin", &S::admin, json::table(admin_binding()), "Who may administer."),
      field("sessions", &S::sessions, json::table(session_binding()), "Tool sessions and streams."),
      field("egress", &S::egress, json::table(egress_binding()),
            "Addresses that session tools and upstreams registered at runtime may use. Loopback is allowed while every "
            "listener is on loopback."),
      field("limits", &S::limits, json::table(limit_binding()), "Limits per caller and upstream."),
      field("log", &S::log, json::table(log_binding()), "The log on standard error."),
      field("defaults", &S::upstream_defaults, upstream_defaults(), "Defaults for every upstream."),
      field("upstreams", &S::upstreams, unread("list of tables", providers::upstream_binding().describe()),
            "The MCP servers behind the gateway. If two have the same name for something, the first one wins."),
      field("datasets", &S::datasets, json::table(dataset_binding()),
            "Databases that agents may read through ratified mappings."),
      field("contexts", &S::contexts, unread("table of tables", context_binding().describe()), "Contexts, by name."),
      field("search", &S::search, json::table(search_binding()), "How callers with `disclosure = \"search\"` search."),
      field("schemas", &S::schemas, unread("table of tables", schema_binding().describe()),
            "Guidance for the contexts that use them, by name."),
      field("cluster", &S::cluster, json::table(cluster_binding()),
            "Several processes that serve as one. The table alone turns it on, and `PROTEUS_PEPPER` must be set; see "
            "[cluster.md](cluster.md)."),
      field("telemetry", &S::telemetry, json::table(telemetry_binding()), "What is kept about calls."),
  };
  return binding;
}

}  // namespace proteus::app
