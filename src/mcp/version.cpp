#include "mcp/version.hpp"

#include <algorithm>

namespace proteus::mcp {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                                    "2026-07-28"};

}  // namespace

std::string_view to_string(Version version) { return kNames.at(static_cast<std::size_t>(version)); }

std::string_view to_string(Era era) { return era == Era::legacy ? "legacy" : "modern"; }

std::optional<Version> parse_version(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Version>(found - kNames.begin());
}

Version negotiate(std::string_view requested) {
  const auto version = parse_version(requested);
  if (!version || era_of(*version) == Era::modern) return kNewestLegacy;
  return *version;
}

std::string_view supported_versions_json(Eras eras) {
  if (eras.legacy && eras.modern) return R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"])";
  return eras.modern ? R"(["2026-07-28"])" : R"(["2025-11-25","2025-06-18","2025-03-26","2024-11-05"])";
}

}  // namespace proteus::mcp
