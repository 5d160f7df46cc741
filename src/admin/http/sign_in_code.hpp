#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "admin/http/admin_auth.hpp"
#include "base/clock.hpp"

namespace proteus::admin {

// A single-use code that signs in on the page, for a person who starts the program on a terminal. It is in the fragment
// of a link, which browsers do not send. Thread-safe.
class SignInCode {
 public:
  static constexpr std::chrono::minutes kLifetime{10};

  // The clock must outlive this object.
  explicit SignInCode(const Clock& clock) : clock_(clock) {}

  // Returns a new code, which replaces any earlier one.
  std::string offer(AdminAuth::KeyHolder holder);
  // Returns the operator whom the code signs in; nothing if the code is wrong, used or expired.
  std::optional<AdminAuth::KeyHolder> take(std::string_view code);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::string code_;  // empty if there is none
  Clock::Wall until_{};
  std::optional<AdminAuth::KeyHolder> holder_;
};

}  // namespace proteus::admin
