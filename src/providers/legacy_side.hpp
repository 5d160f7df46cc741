#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "catalog/definitions/kind.hpp"
#include "client/connection/connection.hpp"
#include "client/message/facts.hpp"

namespace proteus::providers {

// What a modern server offers clients of the legacy era, where it has sessions for those. Immutable.
struct LegacySide {
  std::shared_ptr<const client::ServerFacts> facts;
  catalog::PerKind<std::set<std::string, std::less<>>> names;  // its own; of resources their URIs

  bool has(catalog::Kind kind, std::string_view name) const { return names[kind].contains(name); }
};

// Looks at it over a connection that speaks the legacy era only. Null where the server does not answer in it, or keeps
// no sessions: there is nothing then that the modern era lacks.
Task<std::shared_ptr<const LegacySide>> look_at_legacy_side(client::Connection& connection);

}  // namespace proteus::providers
