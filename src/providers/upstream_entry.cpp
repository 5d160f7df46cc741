#include "providers/upstream_entry.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace proteus::providers {
namespace {

using boost::json::object;
using boost::json::value;
using json::Faults;
using json::Part;
using json::Place;

constexpr std::string_view kInterval = "auto_refresh_interval";
constexpr double kMaxIntervalSeconds = 10.0 * 365 * 24 * 60 * 60;

bool gives(const object& given, std::string_view key) {
  const auto* found = given.if_contains(key);
  return found != nullptr && !found->is_null();
}

// Checks the rules among the keys. A key that is given but unusable was reported already, so it counts as given.
void check_together(const object& given, const UpstreamSettings& settings, const Place& place) {
  if (settings.name.empty() && !gives(given, "name")) place.fault("name is missing");
  const bool has_url = gives(given, "url") || !settings.url.empty();
  const bool has_command = gives(given, "command") || !settings.command.empty();
  if (!has_url && !has_command) place.fault("url is missing, or command");
  if (has_url && has_command)
    place.member(gives(given, "command") ? "command" : "url").fault("an upstream has a url or a command, not both");
  if (has_url == has_command) return;

  if (gives(given, "transport") && settings.transport) {
    const bool is_stdio = settings.transport == Transport::stdio;
    if (is_stdio && has_url) place.member("transport").fault("must be \"streamable-http\" or \"sse\" for a url");
    if (!is_stdio && has_command) place.member("transport").fault("must be \"stdio\" for a command");
  }
  for (const std::string_view key : {"environment", "pass_environment"}) {
    if (has_url && gives(given, key)) place.member(key).fault("is for a command, and this upstream has a url");
  }
  if (has_command && gives(given, "authentication") && settings.authentication.type != Authentication::Type::none)
    place.member("authentication").fault("is for a url; a command gets its secrets by pass_environment");
}

// Replaces `auto_refresh_interval` by the keys that it stands for.
void spell_out_interval(object& given, const Place& place) {
  const auto* found = given.if_contains(kInterval);
  if (found == nullptr) return;
  const Place at = place.member(kInterval);
  const value interval = *found;
  given.erase(kInterval);
  if (interval.is_null()) return;
  if (!interval.is_number()) return json::wrong_kind(at, "a number of seconds", interval);
  const double seconds = interval.to_number<double>();
  if (!(seconds > 0)) return at.fault("must be above zero");
  if (seconds < 0.001 || seconds > kMaxIntervalSeconds) return at.fault("must be from 0.001 to ten years of seconds");
  if (gives(given, "refresh_interval")) return at.fault("says the same as refresh_interval; give one of them");
  if (const auto* on = given.if_contains("auto_refresh"); on != nullptr && on->is_bool() && !on->get_bool())
    return at.fault("turns auto_refresh on, and auto_refresh is false");
  given["refresh_interval"] = write_duration(std::chrono::milliseconds(std::llround(seconds * 1000)));
  given["auto_refresh"] = true;
}

void merge_secrets(object& into, const object& secrets) {
  for (const auto& member : secrets) {
    auto& at = into[member.key()];
    if (at.is_object() && member.value().is_object()) {
      merge_secrets(at.get_object(), member.value().get_object());
    } else {
      at = member.value();
    }
  }
}

// Returns the given keys and their secrets, which never leave this file together.
object everything_given(const UpstreamEntry& entry) {
  object out = write_upstream(entry);
  merge_secrets(out, write_upstream_secrets(entry));
  return out;
}

EntryOrFaults read_all(const value& given, const UpstreamSettings& base, Faults& faults) {
  auto entry = read_upstream(given, base, Place(faults, json::Secrets::accepted));
  if (!faults.empty()) return std::unexpected(faults.all());
  return entry;
}

}  // namespace

void read_upstream_defaults(const value& given, UpstreamSettings& onto, const Place& place) {
  const auto* keys = given.if_object();
  if (keys == nullptr) return json::wrong_kind(place, "a table", given);
  object rest = *keys;
  for (const std::string_view key : {"name", "display_name", "url", "command", "enabled"}) {
    if (rest.contains(key)) place.member(key).fault("belongs to one upstream, and cannot be a default");
    rest.erase(key);
  }
  upstream_binding().read(rest, onto, place);
}

UpstreamEntry read_upstream(const value& given, const UpstreamSettings& base, const Place& place) {
  UpstreamEntry entry{.settings = base, .given = {}};
  upstream_binding().read(given, entry.settings, place);
  const auto* keys = given.if_object();
  if (keys == nullptr) return entry;
  check_together(*keys, entry.settings, place);
  for (const auto& member : *keys) {
    if (!member.value().is_null()) entry.given.emplace(member.key());
  }
  return entry;
}

EntryOrFaults parse_upstream(const value& given, const UpstreamSettings& base) {
  Faults faults;
  if (!given.is_object()) return read_all(given, base, faults);
  object keys = given.get_object();
  spell_out_interval(keys, Place(faults));
  return read_all(keys, base, faults);
}

EntryOrFaults patch_upstream(const UpstreamEntry& entry, const value& patch, const UpstreamSettings& base) {
  Faults faults;
  const auto* keys = patch.if_object();
  if (keys == nullptr) return read_all(patch, base, faults);
  object changes = *keys;
  const Place place(faults);
  spell_out_interval(changes, place);
  if (const auto* name = changes.if_contains("name"); name != nullptr && *name != value(entry.settings.name)) {
    place.member("name").fault("cannot change; delete the upstream and create another");
    changes.erase("name");
  }
  object all = everything_given(entry);
  for (const auto& member : changes) {
    // A null for a key that does not exist stays, so that it is refused.
    if (member.value().is_null() && upstream_binding().has(member.key())) {
      all.erase(member.key());
    } else {
      all[member.key()] = member.value();
    }
  }
  return read_all(all, base, faults);
}

object write_upstream(const UpstreamEntry& entry) {
  object all = upstream_binding().write(entry.settings);
  object out;
  for (auto& member : all) {
    if (entry.given.contains(std::string_view(member.key()))) out.emplace(member.key(), std::move(member.value()));
  }
  return out;
}

object write_upstream_secrets(const UpstreamEntry& entry) {
  object all = upstream_binding().write(entry.settings, Part::secrets);
  object out;
  for (auto& member : all) {
    if (entry.given.contains(std::string_view(member.key()))) out.emplace(member.key(), std::move(member.value()));
  }
  return out;
}

EntryOrFaults restore_upstream(const object& written, const object& secrets, const UpstreamSettings& base) {
  Faults faults;
  object all = written;
  merge_secrets(all, secrets);
  return read_all(all, base, faults);
}

object show_upstream(const UpstreamSettings& settings) {
  UpstreamSettings effective = settings;
  effective.transport = settings.effective_transport();
  effective.prefix = settings.effective_prefix();
  effective.meta_propagation_enabled = settings.propagates_meta();
  return upstream_binding().write(effective);
}

}  // namespace proteus::providers
