#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/place.hpp"
#include "providers/upstream_entry.hpp"

namespace proteus::gateway {

enum class Commands : std::uint8_t { allowed, refused };

// What an upstream that came over the admin API may name. Without these limits, anybody who may register an upstream
// could have any variable of this process sent to a server of their own.
struct RegistrationSettings {
  std::vector<std::string> environment = {};  // variables that may go to any upstream
  std::vector<std::string> own_secrets = {};  // variables that may go to no upstream, whoever names them
  Commands programs = Commands::allowed;
};

// Checks upstreams that were registered or changed over the API against the settings and the upstreams of the file. A
// variable that an upstream of the file names may go to the same place, which is an origin, a command or an issuer, and
// nowhere else. Variables that `[defaults.upstream]` names may go everywhere, except credentials of an OAuth client.
// Immutable.
class RegistrationRules {
 public:
  using Variables = std::set<std::string, std::less<>>;

  RegistrationRules() = default;
  RegistrationRules(const RegistrationSettings& settings, const std::vector<providers::UpstreamEntry>& file,
                    const providers::UpstreamSettings& defaults);

  // Returns the faults; none if the upstream may be served. Takes time linear in the size of the entry.
  std::vector<json::Fault> check(const providers::UpstreamEntry& entry) const;

  friend bool operator==(const RegistrationRules&, const RegistrationRules&) = default;

 private:
  bool may_go(std::string_view variable, const Variables* of_the_place) const;

  Variables everywhere_;
  Variables own_secrets_;
  std::map<std::string, Variables, std::less<>> by_place_;
  Commands programs_ = Commands::allowed;
};

}  // namespace proteus::gateway
