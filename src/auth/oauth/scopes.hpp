#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::auth::oauth {

// In their order, each once.
using Scopes = std::vector<std::string>;

inline constexpr std::size_t kMaxScopes = 256;

// Of a text with spaces between (RFC 6749, 3.3). What is no scope, and what is above the limit, is left out.
Scopes read_scopes(std::string_view text);
std::string write_scopes(std::span<const std::string> scopes);

// Those of the first, then what the second adds.
Scopes united(std::span<const std::string> first, std::span<const std::string> second);
bool includes(std::span<const std::string> all, std::span<const std::string> some);

// How often a server may ask for more scopes than were asked for, at one grant: it gets the union, a bounded number of
// times.
class StepUp {
 public:
  static constexpr unsigned kMostTimes = 2;

  StepUp() = default;
  explicit StepUp(Scopes asked) : asked_(std::move(asked)) {}

  // What was asked for so far.
  const Scopes& asked() const { return asked_; }
  void start_with(Scopes asked) { *this = StepUp(std::move(asked)); }
  // The scopes to ask for now that the server wants these. Nothing where that is over the bound, or nothing new: the
  // refusal stands.
  std::optional<Scopes> widen(std::span<const std::string> wanted);

 private:
  Scopes asked_;
  unsigned times_ = 0;
};

}  // namespace proteus::auth::oauth
