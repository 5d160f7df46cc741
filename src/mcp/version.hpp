#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proteus::mcp {

// The two forms of MCP: legacy with a handshake and sessions, modern with everything in each request.
enum class Era : std::uint8_t { legacy, modern };

enum class Version : std::uint8_t { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };

inline constexpr Version kNewestLegacy = Version::v2025_11_25;
inline constexpr Version kModern = Version::v2026_07_28;

std::string_view to_string(Version version);
std::string_view to_string(Era era);
std::optional<Version> parse_version(std::string_view text);
constexpr Era era_of(Version version) { return version == Version::v2026_07_28 ? Era::modern : Era::legacy; }

// Whether tasks are part of the revision itself. In the modern era they are an extension.
constexpr bool has_tasks(Version version) { return version == Version::v2025_11_25; }

// Returns the revision for the answer to `initialize`: the requested one if it has a handshake, otherwise the newest of
// those with a handshake.
Version negotiate(std::string_view requested);

// The eras that a client or server speaks.
struct Eras {
  bool legacy = true;
  bool modern = true;
  bool speaks(Era era) const { return era == Era::legacy ? legacy : modern; }
};

// Returns a JSON array of the revisions that a server of these eras supports, newest first.
std::string_view supported_versions_json(Eras eras);

}  // namespace proteus::mcp
