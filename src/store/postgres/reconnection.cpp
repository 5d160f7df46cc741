#include "store/postgres/reconnection.hpp"

#include <algorithm>

namespace proteus::store {
namespace {

constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{2000};

}  // namespace

Result<PostgresConnection*> Reconnection::get() {
  if (connection_ && connection_->is_usable()) return connection_.get();
  connection_.reset();
  if (fault_ && Clock::now() < not_before_) return std::unexpected(*fault_);
  auto opened = PostgresConnection::open(options_);
  if (opened) {
    connection_ = std::move(*opened);
    next_pause_ = std::chrono::milliseconds(0);
    fault_.reset();
    return connection_.get();
  }
  next_pause_ = std::clamp(next_pause_ * 2, kFirstPause, kLongestPause);
  not_before_ = Clock::now() + next_pause_;
  fault_ = opened.error();
  return std::unexpected(std::move(opened.error()));
}

std::chrono::milliseconds Reconnection::pause() const {
  if (!fault_) return std::chrono::milliseconds(0);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(not_before_ - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

std::optional<Health::Trouble> Reconnection::take_trouble() {
  if (fault_) return Health::Trouble{Fault::unavailable, fault_->message()};
  return connection_ ? connection_->take_trouble() : std::nullopt;
}

}  // namespace proteus::store
