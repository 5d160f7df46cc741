#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "catalog/view/catalog.hpp"

namespace proteus::gateway {

// Whether a change of the catalog has changed which upstreams list which resources.
bool changes_resources(const catalog::Publication& publication);

// The resources that clients follow, and where the gateway follows them on their behalf: at the upstreams that list a
// resource, and at those to which routing has led a client. Routing finds the upstreams of resources that match a
// template or are listed live. An upstream that lists a resource no more may still have a template for it, and then the
// resource is read there as before. If such a resource moves, the gateway follows it where routing found it until a
// client subscribes again, because only a subscription is routed. Following or unfollowing a resource costs time for
// that resource only. Belongs to one thread.
class FollowedResources {
 public:
  void follow(const std::string& uri, const catalog::CatalogState& state);
  void unfollow(const std::string& uri);
  // Adds an upstream to which following a resource was routed. Does nothing if nobody follows the resource.
  void add_route(const std::string& uri, const std::string& upstream);
  // Looks for the upstreams that list the resources now.
  void look_at(const catalog::CatalogState& state);
  // Notes that upstreams may be others than before, of the same names.
  void upstreams_changed();

  // Returns the resources to follow at each upstream for which they have changed since the last call.
  std::map<std::string, std::set<std::string>> take_changed();

 private:
  enum class Because : std::uint8_t { listed, routed };
  struct Followed {
    std::uint32_t hash;
    std::map<std::string, Because> at;  // by upstream
  };
  using Place = std::map<std::string, Followed>::value_type;

  // Steps of matching that are left to the templates of each upstream.
  using Steps = std::map<std::string, std::size_t>;

  void look_at(Place& place, const catalog::CatalogState& state, Steps& steps);
  void add(const std::string& upstream, const std::string& uri);
  void remove(const std::string& upstream, const std::string& uri);

  std::map<std::string, Followed> followed_;         // by URI
  std::map<std::string, std::set<std::string>> at_;  // URIs by upstream; never empty
  std::set<std::string> changed_;                    // upstreams
};

}  // namespace proteus::gateway
