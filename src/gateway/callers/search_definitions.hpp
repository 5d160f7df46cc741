#pragma once

#include <string_view>

#include "catalog/definitions/snapshot.hpp"

// The tools by which callers who search find and call the others. They are answered in gateway/search, except for
// `call_tool` and `call_read_tool`, which are answered as the call that they name.
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

// Returns the name of their provider, which no upstream can have.
const catalog::UpstreamName& search_provider();
// Always returns the same definitions.
const catalog::SnapshotPointer& search_definitions();

}  // namespace proteus::gateway
