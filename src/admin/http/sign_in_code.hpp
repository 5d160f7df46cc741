#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "admin/http/admin_auth.hpp"
#include "base/clock.hpp"

namespace proteus::admin {

// A code that signs in on the page once, for whoever starts the program on a terminal. It is in the fragment of a link,
// which browsers send nowhere. Thread-safe.
class SignInCode {
 public:
  static constexpr std::chrono::minutes kLifetime{10};

  // The clock outlives it.
  explicit SignInCode(const Clock& clock) : clock_(clock) {}

  // A new one, in place of one from before.
  std::string offer(AdminAuth::KeyHolder holder);
  // Whom it signs in; nothing where it is another one, was taken before, or is too old.
  std::optional<AdminAuth::KeyHolder> take(std::string_view code);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::string code_;  // empty where there is none
  Clock::Wall until_{};
  std::optional<AdminAuth::KeyHolder> holder_;
};

}  // namespace proteus::admin
