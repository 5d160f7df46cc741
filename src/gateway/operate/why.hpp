#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/operate/upstream_registry.hpp"
#include "gateway/operate/viewpoint.hpp"
#include "gateway/routing/route.hpp"

// Explains why a caller sees an entry or does not. The function that routes requests decides whether; the reasons are
// determined afterwards.
namespace proteus::gateway {

enum class Visibility : std::uint8_t {
  seen,
  not_seen,
  upstream_knows,  // listed live; the upstream was not asked
};
std::string_view to_string(Visibility visibility);

// The checks that an entry passes on its way from an upstream to a caller, in this order. Each comment says what must
// hold.
enum class Check : std::uint8_t {
  configured,  // an upstream may have an entry of that name
  enabled,     // the upstream is not paused
  denied,      // the caller's rules allow it
  connected,   // the upstream was reached
  listed,      // the upstream lists it
  omitted,     // it can be offered
  unratified,  // a person has ratified it, if definitions are pinned
  hidden,      // the operator does not hide it
  excluded,    // the context includes it
  shadowed,    // no earlier upstream has the name
  scope,       // the caller's token has the scopes that a call needs
};
std::string_view to_string(Check check);

// How far the entry gets at one upstream.
struct Finding {
  std::string upstream;
  Visibility visibility = Visibility::not_seen;
  Check decided_by = Check::listed;
  std::string detail = {};  // for display
};

// A part of a description and its origin.
struct DescriptionPart {
  std::string from;  // "upstream", "operator", or a catalog::PartOf
  std::string name;
  std::string text;
};

struct Why {
  Finding decisive;               // without an upstream if none may have the name
  std::vector<Finding> findings;  // one for each upstream that may have it
  // Only if the entry is seen.
  std::string shown = {};
  std::string own = {};
  std::string definition = {};  // JSON
  std::vector<DescriptionPart> parts = {};
  catalog::Scopes missing_scopes = {};  // a call is refused without these
};

// Thread-safe.
Why why(const Viewpoint& viewpoint, const RegisteredUpstreams& registered, const Clock& clock, const Wanted& wanted);

}  // namespace proteus::gateway
