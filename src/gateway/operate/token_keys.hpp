#pragma once

#include <string>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "gateway/callers/principal.hpp"
#include "json/binding.hpp"

// What operators set for a token that they make at runtime: the keys of [[auth.tokens]] except those for a secret.
namespace proteus::gateway {

struct TokenKeys {
  std::string name;
  std::vector<std::string> contexts = {"*"};
  std::vector<std::string> upstreams = {"*"};
  std::vector<std::string> tools = {"*"};  // patterns of entries
  std::vector<std::string> deny;           // likewise
  bool read_only = false;
  unsigned requests_per_minute = 0;  // 0: only the limit of all callers
  catalog::Disclosure disclosure = catalog::Disclosure::all;
  std::string expires;  // date and time, or duration from now on; empty for never

  // Returns the settings of the principal, without its token and its expiry.
  PrincipalSettings settings() const;
};

// The keys of a request body.
const json::Binding<TokenKeys>& token_binding();
// The keys that limit the holder, as they are stored and shown.
const json::Binding<TokenKeys>& token_access_binding();

// Returns the time that `text` states, as a date and time or as a duration from `now` on. Fails unless it is later than
// `now`.
Result<Clock::Wall> read_expiry(std::string_view text, Clock::Wall now);

// The keys of a rotation's request body.
struct RotationKeys {
  std::chrono::milliseconds overlap = std::chrono::hours(24);  // how long the previous secret still works
  std::string expires;                                         // as above; empty: unchanged
};
const json::Binding<RotationKeys>& rotation_binding();

}  // namespace proteus::gateway
