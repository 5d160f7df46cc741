#include "admin/routes/upstream_document.hpp"

#include <chrono>

#include <boost/json/array.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "client/connection/refresher.hpp"
#include "gateway/observe/meter.hpp"
#include "providers/upstream_entry.hpp"

namespace proteus::admin {

namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

array shadowed_names(const catalog::View& view, const catalog::UpstreamName& upstream, std::size_t most) {
  array out;
  for (const auto& one : view.shadowed(upstream)) {
    if (out.size() == most) break;
    out.push_back({{"kind", catalog::info(one.kind).word}, {"name", one.name}, {"by", one.by.value()}});
  }
  return out;
}

array omissions(const std::vector<catalog::Omission>& all, std::size_t most) {
  array out;
  for (const auto& one : all) {
    if (out.size() == most) break;
    out.push_back({{"kind", catalog::info(one.kind).word}, {"name", one.name}, {"reason", one.reason}});
  }
  return out;
}

array list_faults(const std::vector<client::ListFault>& all) {
  array out;
  for (const auto& one : all) {
    out.push_back({{"kind", catalog::info(one.kind).plural},
                   {"method", mcp::to_string(catalog::info(one.kind).list_method)},
                   {"cause", client::to_string(one.cause)},
                   {"error", one.message}});
  }
  return out;
}

// Returns only names that differ from the prefix followed by the upstream's own name.
array mapped_names(const catalog::Snapshot& snapshot, std::size_t most) {
  array out;
  for (const catalog::Kind kind : {catalog::Kind::tool, catalog::Kind::prompt}) {
    const auto& list = snapshot.list(kind);
    for (const auto& definition : list.definitions()) {
      const std::string& prefix = list.rules().prefix;
      const bool plain = definition.shown.size() == prefix.size() + definition.own.size() &&
                         definition.shown.starts_with(prefix) && definition.shown.ends_with(definition.own);
      if (plain) continue;
      if (out.size() == most) return out;
      out.push_back({{"kind", catalog::info(kind).word}, {"name", definition.shown}, {"own", definition.own}});
    }
  }
  return out;
}

// Reports what shaping did, for each table of `tools`.
object shaping(const providers::UpstreamSettings& settings, const catalog::ShapeReport& report, std::size_t most) {
  array tables;
  for (std::size_t i = 0; i < report.fitted.size() && i < settings.tools.size() && i < most; ++i) {
    array match;
    for (const auto& pattern : settings.tools[i].match)
      match.emplace_back(pattern);
    tables.push_back({{"match", std::move(match)}, {"fits", report.fitted[i]}});
  }
  array warnings;
  for (const auto& warning : report.warnings) {
    if (warnings.size() < most) warnings.emplace_back(warning);
  }
  return {{"tables", std::move(tables)}, {"hidden", report.hidden}, {"warnings", std::move(warnings)}};
}

object calls(const gateway::UpstreamMeter& meter) {
  std::uint64_t total = 0;
  std::uint64_t failed = 0;
  for (const auto outcome : gateway::kUpstreamOutcomes) {
    total += meter.requests(outcome);
    if (gateway::is_error(outcome)) failed += meter.requests(outcome);
  }
  object out{{"total", total}, {"failed", failed}, {"mean_ms", nullptr}};
  if (const std::uint64_t count = meter.timed(); count > 0)
    out["mean_ms"] = std::chrono::duration<double, std::milli>(meter.time()).count() / static_cast<double>(count);
  return out;
}

void add_status(object& out, const gateway::ServedUpstream& served, const catalog::View& view, std::size_t most) {
  const providers::UpstreamStatus status = served->status();
  out["state"] = client::to_string(status.state);
  out["circuit"] = client::to_string(status.circuit);
  out["watch"] = client::to_string(status.watch);
  if (status.version) {
    out["era"] = mcp::to_string(mcp::era_of(*status.version));
    out["protocol_version"] = mcp::to_string(*status.version);
  }
  if (status.transport) out["transport"] = providers::to_string(*status.transport);
  if (status.last_refresh_at) out["last_refresh_at"] = write_time(store::to_time(*status.last_refresh_at));
  if (!status.last_error.empty()) out["last_error"] = status.last_error;
  out["consecutive_failures"] = status.consecutive_failures;
  if (served.meter != nullptr) out["calls"] = calls(*served.meter);
  // Counts what is offered now, which may be older than the connection.
  const auto snapshot = view.state().find(served->name());
  for (const catalog::Kind kind : catalog::kKinds)
    out[catalog::info(kind).plural] = snapshot ? snapshot->list(kind).size() : 0;
  if (const auto& pins = served->pins()) {
    const auto counts = pins->counts();
    out["pins"] = {{"ratified", counts.ratified},
                   {"proposals", counts.proposals},
                   {"rejected", counts.rejected},
                   {"blocked", counts.blocked},
                   {"unkept", counts.unkept}};
  }
  if (!served->settings().tools.empty()) out["shaping"] = shaping(served->settings(), status.shaping, most);
  out["shadowed"] = shadowed_names(view, served->name(), most);
  out["omissions"] = omissions(status.omissions, most);
  out["list_faults"] = list_faults(status.list_faults);
  out["mapped_names"] = snapshot ? mapped_names(*snapshot, most) : array();
}

}  // namespace

std::string write_time(store::Time time) {
  return fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::milliseconds>(time));
}

object upstream_document(const gateway::RegisteredUpstream& registered, const gateway::ServedUpstream* served,
                         const catalog::View& everything, std::size_t most) {
  object out{{"name", registered.name()},
             {"id", registered.id},
             {"origin", gateway::to_string(registered.origin)},
             {"created_at", write_time(registered.created_at)},
             {"updated_at", write_time(registered.updated_at)},
             {"revision", registered.revision()},
             {"state", "connecting"},
             {"circuit", "closed"},
             {"watch", "none"},
             {"protocol_version", nullptr},
             {"last_refresh_at", nullptr},
             {"last_error", nullptr},
             {"consecutive_failures", 0}};
  if (registered.origin == gateway::UpstreamOrigin::file_override) {
    array keys;
    for (const auto& key : registered.entry.given)
      keys.emplace_back(key);
    out["overrides"] = std::move(keys);
  }
  for (auto& member : providers::show_upstream(registered.entry.settings))
    out.emplace(member.key(), std::move(member.value()));
  // The status uses the same keys for what was discovered, and overwrites them below.
  out["configured_era"] = out["era"];
  out["configured_transport"] = out["transport"];
  out["configured_tools"] = out["tools"];
  if (served != nullptr) {
    add_status(out, *served, everything, most);
  } else {
    const bool paused = !registered.entry.settings.enabled && registered.fault.empty();
    out["state"] = paused ? "paused" : "failed";
    if (!paused) out["last_error"] = registered.fault;
    for (const catalog::Kind kind : catalog::kKinds)
      out[catalog::info(kind).plural] = 0;
  }
  return out;
}

}  // namespace proteus::admin
