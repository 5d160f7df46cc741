#include "admin/http/sign_in_code.hpp"

#include <utility>

#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"

namespace proteus::admin {

std::string SignInCode::offer(AdminAuth::KeyHolder holder) {
  const std::scoped_lock lock(mutex_);
  code_ = base64_encode(random_bytes(24), Base64::url);
  until_ = clock_.wall() + kLifetime;
  holder_ = std::move(holder);
  return code_;
}

std::optional<AdminAuth::KeyHolder> SignInCode::take(std::string_view code) {
  const std::scoped_lock lock(mutex_);
  if (code_.empty() || !equal_in_constant_time(code_, code) || clock_.wall() >= until_) return std::nullopt;
  code_.clear();
  return std::exchange(holder_, std::nullopt);
}

}  // namespace proteus::admin
