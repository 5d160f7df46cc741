#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gateway/operate/viewpoint.hpp"

// What a change would do, before it is made: worked out by the functions that serve requests, over a catalog as it
// would be.
namespace proteus::gateway {

// Somebody for whom something would be other than it is.
struct Affected {
  Whom whom;
  std::string context;
  // Of all kinds, by the names that clients see; each at most kMostNames.
  std::vector<std::string> gains = {};
  std::vector<std::string> loses = {};
  std::vector<std::string> changes = {};  // another definition by the same name
  std::size_t gained = 0;
  std::size_t lost = 0;
  std::size_t changed = 0;
};

struct Preview {
  static constexpr std::size_t kMostNames = 100;
  static constexpr std::size_t kMostLooks = 64;  // principals in contexts

  std::vector<Affected> affected;
  std::size_t looks = 0;  // how many were compared
  bool is_whole = true;   // whether those are all
};

// From any thread, and may take long. An upstream would offer this, which is null for nothing.
Preview preview(Gateway& gateway, const catalog::UpstreamName& upstream, catalog::SnapshotPointer offered);

// From any thread: what somebody would see who is not there yet, in each context that they may enter.
Preview preview(Gateway& gateway, const std::shared_ptr<const Principal>& newcomer);

}  // namespace proteus::gateway
