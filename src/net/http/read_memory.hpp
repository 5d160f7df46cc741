#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "net/http/http_limits.hpp"

namespace proteus::net {

// Whether the caller behind a connection has shown a credential.
enum class Standing : std::uint8_t { stranger, known };

// How much memory the connections of one server may hold in all for requests they read. Strangers and known callers
// have separate budgets, so that strangers cannot keep known callers out. Thread-safe.
class ReadMemory {
 public:
  // Each budget has room for at least one request of the largest size, twice: buffers grow by doubling.
  explicit ReadMemory(const HttpLimits& limits);

  // Memory taken from one of the budgets, given back at the end. The budgets outlive it.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_), standing_(other.standing_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(bytes_, other.bytes_);
      std::swap(standing_, other.standing_);
      return *this;
    }
    ~Share();

   private:
    friend class ReadMemory;
    Share(ReadMemory& memory, std::size_t bytes, Standing standing)
        : memory_(&memory), bytes_(bytes), standing_(standing) {}

    ReadMemory* memory_ = nullptr;
    std::size_t bytes_ = 0;
    Standing standing_ = Standing::stranger;
  };

  // Makes a share one of `bytes`, which are more than it has. False where the budget is used up; then it stays as it
  // is.
  [[nodiscard]] bool grow(Share& share, std::size_t bytes, Standing standing);
  std::size_t taken(Standing standing) const { return budget(standing).taken.load(std::memory_order_relaxed); }

 private:
  struct Budget {
    std::size_t limit = 0;
    std::atomic<std::size_t> taken = 0;
  };
  Budget& budget(Standing standing) { return budgets_[static_cast<std::size_t>(standing)]; }
  const Budget& budget(Standing standing) const { return budgets_[static_cast<std::size_t>(standing)]; }

  std::array<Budget, 2> budgets_;
};

}  // namespace proteus::net
