#pragma once

#include <map>
#include <string>
#include <string_view>

// What the store keeps about datasets.
namespace proteus::gateway {

// One setting for each dataset, behind these. Earlier versions had one for all, without the point; the first write
// takes it apart.
inline constexpr std::string_view kKept = "datasets.";
inline constexpr std::string_view kConnected = "datasets.connected.";
inline constexpr std::string_view kFloors = "datasets.floors.";

// By the name of the dataset: of a setting for each, and of one for all. `kept` has the settings by key.
std::map<std::string, std::string> kept_by_name(const std::map<std::string, std::string>& kept,
                                                std::string_view prefix);

}  // namespace proteus::gateway
