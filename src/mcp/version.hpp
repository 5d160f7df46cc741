#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proteus::mcp {

// The two ways MCP works: with a handshake and sessions, or with everything in each request.
enum class Era : std::uint8_t { legacy, modern };

enum class Version : std::uint8_t { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };

inline constexpr Version kNewestLegacy = Version::v2025_11_25;
inline constexpr Version kModern = Version::v2026_07_28;

std::string_view to_string(Version version);
std::string_view to_string(Era era);
std::optional<Version> parse_version(std::string_view text);
constexpr Era era_of(Version version) { return version == Version::v2026_07_28 ? Era::modern : Era::legacy; }

// Whether tasks are part of the revision itself; in the modern era they are an extension.
constexpr bool has_tasks(Version version) { return version == Version::v2025_11_25; }

// The revision that answers `initialize`: the one asked for where it has a handshake, otherwise the newest that has
// one.
Version negotiate(std::string_view requested);

// Which eras one side of a conversation speaks.
struct Eras {
  bool legacy = true;
  bool modern = true;
  bool speaks(Era era) const { return era == Era::legacy ? legacy : modern; }
};

// The revisions a server of these eras names to its clients, newest first, as a JSON array.
std::string_view supported_versions_json(Eras eras);

}  // namespace proteus::mcp
