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

// One upstream's settings as somebody gave them. They are layers: built-in defaults, `[defaults.upstream]`, the
// upstream's own keys. A base is the layers below; an entry is a base and the keys given on top of it.
namespace proteus::providers {

struct UpstreamEntry {
  UpstreamSettings settings;                 // what holds
  std::set<std::string, std::less<>> given;  // the keys that the base did not decide

  friend bool operator==(const UpstreamEntry&, const UpstreamEntry&) = default;
};

// Reads `[defaults.upstream]`: any key but those that belong to one upstream alone.
void read_upstream_defaults(const boost::json::value& given, UpstreamSettings& onto, const json::Place& place);

// Reads an upstream from a file. Where there were faults, the entry is not to be used.
UpstreamEntry read_upstream(const boost::json::value& given, const UpstreamSettings& base, const json::Place& place);

using EntryOrFaults = std::expected<UpstreamEntry, std::vector<json::Fault>>;

// An upstream as the admin API takes it: as in the file, also with secrets themselves, and with
// `auto_refresh_interval`, a number of seconds, which turns `auto_refresh` on.
EntryOrFaults parse_upstream(const boost::json::value& given, const UpstreamSettings& base);

// The entry with other keys on top, on the same base or on a new one. A null takes a key away, so that the base decides
// again; a table such as `authentication` is replaced as a whole; what is not named stays, secrets included. The name
// cannot change.
EntryOrFaults patch_upstream(const UpstreamEntry& entry, const boost::json::value& patch, const UpstreamSettings& base);

// The given keys, without secrets, and the secrets alone: what is stored, apart from each other.
boost::json::object write_upstream(const UpstreamEntry& entry);
boost::json::object write_upstream_secrets(const UpstreamEntry& entry);
// Both together again.
EntryOrFaults restore_upstream(const boost::json::object& written, const boost::json::object& secrets,
                               const UpstreamSettings& base);

// Every key with the value that holds, without secrets: what is shown.
boost::json::object show_upstream(const UpstreamSettings& settings);

}  // namespace proteus::providers
