#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proteus::auth {

// The signatures that are accepted at all. `none` and those with a shared secret are not among them, so that no setting
// can allow them.
enum class Algorithm : std::uint8_t { rs256, ps256, es256, es384, eddsa };

inline constexpr std::array kAlgorithms = {Algorithm::rs256, Algorithm::ps256, Algorithm::es256, Algorithm::es384,
                                           Algorithm::eddsa};

// As in a header: "RS256".
std::string_view to_string(Algorithm algorithm);
std::optional<Algorithm> algorithm_of(std::string_view name);

}  // namespace proteus::auth
