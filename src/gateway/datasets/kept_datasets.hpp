#pragma once

#include <map>
#include <string>
#include <string_view>

// The settings in the store about datasets.
namespace proteus::gateway {

// Prefixes of the settings' keys; there is one setting for each dataset. Earlier versions had a single setting for all
// datasets, whose key has no final dot; the first write splits it.
inline constexpr std::string_view kKept = "datasets.";
inline constexpr std::string_view kConnected = "datasets.connected.";
inline constexpr std::string_view kFloors = "datasets.floors.";

// Returns the values by name of the dataset, from settings of both forms. `kept` has the settings by key.
std::map<std::string, std::string> kept_by_name(const std::map<std::string, std::string>& kept,
                                                std::string_view prefix);

}  // namespace proteus::gateway
