#include "json/binding.hpp"

#include <fmt/format.h>

#include "base/settings/nearest.hpp"

namespace proteus::json::detail {

void unknown_key(const Place& place, std::string_view key, std::span<const std::string> known,
                 const boost::json::object& given) {
  // A key that is already present is not suggested: the user meant another one.
  std::vector<std::string_view> absent;
  for (const std::string& name : known) {
    if (!given.contains(name)) absent.push_back(name);
  }
  place.fault("is not a known key" + did_you_mean(key, absent));
}

}  // namespace proteus::json::detail
