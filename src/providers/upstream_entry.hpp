#pragma once

#include <expected>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "json/place.hpp"
#include "providers/upstream_settings.hpp"

// The settings of one upstream as they were given. They are layers: built-in defaults, `[defaults.upstream]`, the
// upstream's own keys. A base is the lower layers; an entry is a base and the keys given on top of it.
namespace proteus::providers {

struct UpstreamEntry {
  UpstreamSettings settings;                 // the values that apply
  std::set<std::string, std::less<>> given;  // the keys given on top of the base

  friend bool operator==(const UpstreamEntry&, const UpstreamEntry&) = default;
};

// Reads `[defaults.upstream]`: any key except those that belong to one upstream alone.
void read_upstream_defaults(const boost::json::value& given, UpstreamSettings& onto, const json::Place& place);

// Reads an upstream from a file. If there are faults, the entry must not be used.
UpstreamEntry read_upstream(const boost::json::value& given, const UpstreamSettings& base, const json::Place& place);

using EntryOrFaults = std::expected<UpstreamEntry, std::vector<json::Fault>>;

// Reads an upstream as the admin API receives it: like one in a file, but also with secrets themselves, and with
// `auto_refresh_interval`, a number of seconds, which turns `auto_refresh` on.
EntryOrFaults parse_upstream(const boost::json::value& given, const UpstreamSettings& base);

// Returns the entry with other keys on top, on the same base or a new one. A null removes a key, so that the base
// decides again; a table such as `authentication` is replaced as a whole; keys that are not named stay, including
// secrets. The name cannot change.
EntryOrFaults patch_upstream(const UpstreamEntry& entry, const boost::json::value& patch, const UpstreamSettings& base);

// Return the given keys without secrets, and the secrets alone, which are stored separately.
boost::json::object write_upstream(const UpstreamEntry& entry);
boost::json::object write_upstream_secrets(const UpstreamEntry& entry);
// Reads an upstream from what `write_upstream` and `write_upstream_secrets` returned.
EntryOrFaults restore_upstream(const boost::json::object& written, const boost::json::object& secrets,
                               const UpstreamSettings& base);

// Returns every key with the value that applies, without secrets, for display.
boost::json::object show_upstream(const UpstreamSettings& settings);

}  // namespace proteus::providers
