#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "net/http_server/http_limits.hpp"

namespace proteus::net {

// Whether the caller behind a connection has shown a credential.
enum class Standing : std::uint8_t { stranger, known };

// Limits how much memory the connections of one server hold in all for requests that they read. Callers with and
// without a credential have separate budgets, so that untrusted callers cannot keep known callers out. Until its head
// has arrived, every request is charged to the budget of strangers; see Connection::displace_oldest. Thread-safe.
class ReadMemory {
 public:
  // Each budget has room for at least twice the largest request, because buffers grow by doubling.
  explicit ReadMemory(const HttpLimits& limits);

  // Memory taken from one of the budgets, returned by the destructor. The budgets must outlive the share.
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

    bool is_from(Standing standing) const { return memory_ != nullptr && standing_ == standing; }

   private:
    friend class ReadMemory;
    Share(ReadMemory& memory, std::size_t bytes, Standing standing)
        : memory_(&memory), bytes_(bytes), standing_(standing) {}

    ReadMemory* memory_ = nullptr;
    std::size_t bytes_ = 0;
    Standing standing_ = Standing::stranger;
  };

  // Grows a share to `bytes`, which must be more than it has, and moves it to the budget of `standing`. Returns false
  // if that budget is used up; the share is then unchanged.
  [[nodiscard]] bool grow(Share& share, std::size_t bytes, Standing standing);
  // Moves a share to the budget of `standing`, if there is room.
  void move(Share& share, Standing standing);
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
