#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "catalog/definitions/kind.hpp"
#include "client/connection/connection.hpp"
#include "client/message/facts.hpp"

namespace proteus::providers {

// What a modern server offers legacy clients, if it has sessions for them. Immutable.
struct LegacySide {
  std::shared_ptr<const client::ServerFacts> facts;
  catalog::PerKind<std::set<std::string, std::less<>>> names;  // the server's own; for resources, URIs

  bool has(catalog::Kind kind, std::string_view name) const { return names[kind].contains(name); }
};

// Reads the legacy side over a connection that speaks only the legacy era. Returns null if there is none: if the server
// does not answer in that era, or keeps no sessions. Without sessions, the legacy era offers nothing that the modern
// era lacks. Fails if it cannot be found out now.
Task<Result<std::shared_ptr<const LegacySide>>> look_at_legacy_side(client::Connection& connection);

}  // namespace proteus::providers
