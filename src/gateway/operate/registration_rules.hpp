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

// What the configuration lets an upstream name that came over the admin API. Without it whoever may register one could
// have any variable of this process sent to a server of their own.
struct RegistrationSettings {
  std::vector<std::string> environment = {};  // variables that may go to any upstream
  std::vector<std::string> own_secrets = {};  // variables that may go to none, whoever names them
  Commands programs = Commands::allowed;
};

// Holds an upstream that came over the API, or was changed there, against that and against the upstreams of the file. A
// variable that one of those names may go where that one is, which is an origin or a command, and nowhere else. One
// that `[defaults.upstream]` names is meant for all. Immutable.
class RegistrationRules {
 public:
  using Variables = std::set<std::string, std::less<>>;

  RegistrationRules() = default;
  RegistrationRules(const RegistrationSettings& settings, const std::vector<providers::UpstreamEntry>& file,
                    const providers::UpstreamSettings& defaults);

  // In time that is linear in what the entry names. None: it may be served.
  std::vector<json::Fault> check(const providers::UpstreamEntry& entry) const;

 private:
  bool may_go(std::string_view variable, const Variables* of_the_place) const;

  Variables everywhere_;
  Variables own_secrets_;
  std::map<std::string, Variables, std::less<>> by_place_;
  Commands programs_ = Commands::allowed;
};

}  // namespace proteus::gateway
