#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace proteus::gateway {

// Limits how many passes exist at once. Thread-safe; must outlive its passes.
class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(std::size_t limit) : limit_(limit) {}

  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : turnstile_(std::exchange(other.turnstile_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(turnstile_, other.turnstile_);
      return *this;
    }
    ~Pass() {
      if (turnstile_ != nullptr) turnstile_->inside_.fetch_sub(1, std::memory_order_relaxed);
    }
    explicit operator bool() const { return turnstile_ != nullptr; }

   private:
    friend class ConcurrencyLimit;
    explicit Pass(ConcurrencyLimit* turnstile) : turnstile_(turnstile) {}
    ConcurrencyLimit* turnstile_ = nullptr;
  };

  // Returns an empty pass if the limit is reached.
  Pass enter() {
    if (inside_.fetch_add(1, std::memory_order_relaxed) < limit_) return Pass(this);
    inside_.fetch_sub(1, std::memory_order_relaxed);
    return Pass();
  }
  std::size_t inside() const { return inside_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> inside_ = 0;
};

}  // namespace proteus::gateway
