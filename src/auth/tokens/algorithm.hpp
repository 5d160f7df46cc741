#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proteus::auth {

// The signature algorithms that can be accepted. `none` and algorithms with a shared secret are missing, so no setting
// can allow them.
enum class Algorithm : std::uint8_t { rs256, ps256, es256, es384, eddsa };

inline constexpr std::array kAlgorithms = {Algorithm::rs256, Algorithm::ps256, Algorithm::es256, Algorithm::es384,
                                           Algorithm::eddsa};

// Returns the name as in a JWS header: "RS256".
std::string_view to_string(Algorithm algorithm);
std::optional<Algorithm> algorithm_of(std::string_view name);

}  // namespace proteus::auth
