#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::auth::oauth {

// A list of scopes, in order and without duplicates.
using Scopes = std::vector<std::string>;

inline constexpr std::size_t kMaxScopes = 256;

// Reads scopes separated by spaces (RFC 6749, section 3.3). Leaves out invalid scopes, and those above kMaxScopes.
Scopes read_scopes(std::string_view text);
std::string write_scopes(std::span<const std::string> scopes);

// Returns the scopes of `first`, then those that `second` adds. Leaves out invalid scopes, and those above kMaxScopes.
Scopes united(std::span<const std::string> first, std::span<const std::string> second);
bool includes(std::span<const std::string> all, std::span<const std::string> some);

// Limits how often a server may demand further scopes for one grant. Each time, the union is requested.
class StepUp {
 public:
  static constexpr unsigned kMostTimes = 2;

  StepUp() = default;
  explicit StepUp(Scopes asked) : asked_(std::move(asked)) {}

  // Returns the scopes requested so far.
  const Scopes& asked() const { return asked_; }
  void start_with(Scopes asked) { *this = StepUp(std::move(asked)); }
  // Returns the scopes to request now that the server demands `wanted`. Returns nothing if the limit is reached or
  // `wanted` has nothing new: the refusal stands.
  std::optional<Scopes> widen(std::span<const std::string> wanted);

 private:
  Scopes asked_;
  unsigned times_ = 0;
};

}  // namespace proteus::auth::oauth
