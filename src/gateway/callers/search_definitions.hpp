#pragma once

#include <string_view>

#include "catalog/definitions/snapshot.hpp"

// The tools by which callers who search find and call the others. Whoever answers for them is in gateway/search;
// `call_tool` and `call_read_tool` are answered as the call that they name.
namespace proteus::gateway {

inline constexpr std::string_view kSearchTools = "search_tools";
inline constexpr std::string_view kDescribeTool = "describe_tool";
inline constexpr std::string_view kCallTool = "call_tool";
inline constexpr std::string_view kCallReadTool = "call_read_tool";

struct SearchArguments {
  static constexpr std::size_t kMostQueries = 16;
  static constexpr std::size_t kUsualLimit = 10;
  static constexpr std::size_t kMostHits = 50;
  static constexpr std::size_t kMostNames = 50;
};

// No upstream can be called that.
const catalog::UpstreamName& search_provider();
// Always the same.
const catalog::SnapshotPointer& search_definitions();

}  // namespace proteus::gateway
