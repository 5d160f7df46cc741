#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gateway/operate/viewpoint.hpp"

// Shows the effect of a change before it is made, computed over the future catalog by the functions that serve
// requests.
namespace proteus::gateway {

// A principal in a context for which the change makes a difference.
struct Affected {
  Whom whom;
  std::string context;
  // Names of all kinds, as clients see them; each list has at most kMostNames.
  std::vector<std::string> gains = {};
  std::vector<std::string> loses = {};
  std::vector<std::string> changes = {};  // same name, different definition
  std::size_t gained = 0;
  std::size_t lost = 0;
  std::size_t changed = 0;
};

struct Preview {
  static constexpr std::size_t kMostNames = 100;
  static constexpr std::size_t kMostLooks = 64;  // pairs of a principal and a context

  std::vector<Affected> affected;
  std::size_t looks = 0;  // number of pairs that were compared
  bool is_whole = true;   // whether those were all
};

// Shows what happens if the upstream offers this snapshot; null if it offers nothing. Thread-safe; may take long.
Preview preview(Gateway& gateway, const catalog::UpstreamName& upstream, catalog::SnapshotPointer offered);

// Shows what a principal that does not exist yet would see, in each context that it may enter. Thread-safe.
Preview preview(Gateway& gateway, const std::shared_ptr<const Principal>& newcomer);

}  // namespace proteus::gateway
