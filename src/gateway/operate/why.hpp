#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/operate/upstream_registry.hpp"
#include "gateway/operate/viewpoint.hpp"
#include "gateway/routing/route.hpp"

// Why somebody sees something, or does not. The answer to whether comes from the function that routes requests; the
// reasons are looked for afterwards.
namespace proteus::gateway {

enum class Visibility : std::uint8_t {
  seen,
  not_seen,
  upstream_knows,  // it is listed live, and was not asked
};
std::string_view to_string(Visibility visibility);

// What something has to pass on its way from an upstream to a caller, in this order.
enum class Check : std::uint8_t {
  configured,  // an upstream may have something of that name
  enabled,     // and is not paused
  denied,      // the caller's rules
  connected,   // it has been reached
  listed,      // it lists it
  omitted,     // and it can be offered
  unratified,  // a person has ratified it, where definitions are pinned
  hidden,      // the operator shows it
  excluded,    // the context shows it
  shadowed,    // nobody in front of it has the name
  scope,       // the caller's token has the scopes that a call needs
};
std::string_view to_string(Check check);

// How far it comes at one upstream.
struct Finding {
  std::string upstream;
  Visibility visibility = Visibility::not_seen;
  Check decided_by = Check::listed;
  std::string detail = {};  // in words
};

// A part of a description, and where it comes from.
struct DescriptionPart {
  std::string from;  // "upstream", "operator", or as catalog::PartOf
  std::string name;
  std::string text;
};

struct Why {
  Finding decisive;               // without an upstream where none may have the name
  std::vector<Finding> findings;  // of every upstream that may have it
  // Where it is seen.
  std::string shown = {};
  std::string own = {};
  std::string definition = {};  // JSON
  std::vector<DescriptionPart> parts = {};
  catalog::Scopes missing_scopes = {};  // a call is refused without them
};

// From any thread.
Why why(const Viewpoint& viewpoint, const RegisteredUpstreams& registered, const Clock& clock, const Wanted& wanted);

}  // namespace proteus::gateway
