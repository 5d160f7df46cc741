#pragma once

#include <string>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "gateway/callers/principal.hpp"
#include "json/binding.hpp"

// What operators say of a token that they make at runtime: the keys of [[auth.tokens]] but those that name a secret.
namespace proteus::gateway {

struct TokenKeys {
  std::string name;
  std::vector<std::string> contexts = {"*"};
  std::vector<std::string> upstreams = {"*"};
  std::vector<std::string> tools = {"*"};  // patterns of entries
  std::vector<std::string> deny;           // likewise
  bool read_only = false;
  unsigned requests_per_minute = 0;  // 0: no limit besides that of everybody
  catalog::Disclosure disclosure = catalog::Disclosure::all;
  std::string expires;  // a date and time, or a duration from now on; empty for never

  // Apart from the token and from when it expires.
  PrincipalSettings settings() const;
};

// What a body may have.
const json::Binding<TokenKeys>& token_binding();
// What the holder may use, as it is stored and shown.
const json::Binding<TokenKeys>& token_access_binding();

// When something ends for which `text` is given, which must be later than now.
Result<Clock::Wall> read_expiry(std::string_view text, Clock::Wall now);

// What a rotation may be told.
struct RotationKeys {
  std::chrono::milliseconds overlap = std::chrono::hours(24);  // how long the secret before it still works
  std::string expires;                                         // as above; empty for as it was
};
const json::Binding<RotationKeys>& rotation_binding();

}  // namespace proteus::gateway
