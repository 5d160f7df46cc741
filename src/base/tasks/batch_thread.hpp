#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace proteus {

enum class Posted : std::uint8_t { yes, full, stopped };

// Limits of what may wait. If nothing else waits, one item is accepted however large it is.
struct BacklogLimits {
  std::size_t items = 10'000;
  std::size_t bytes = std::size_t{512} * 1024 * 1024;
};

// A thread that works in batches: all items that were posted while one batch ran form the next. For work that blocks
// and is cheaper in bulk. Thread-safe.
template <class Item>
class BatchThread {
 public:
  // Called on the thread with at least one item, in the order of posting. Must not throw.
  using Work = std::function<void(std::vector<Item>)>;

  // Called on the thread, once, when no item has arrived for `quiet` after the last batch. Must not throw.
  using Rest = std::function<void()>;

  BatchThread(BacklogLimits limits, Work work, Rest rest = {},
              std::chrono::milliseconds quiet = std::chrono::seconds(2))
      : limits_(limits), work_(std::move(work)), rest_(std::move(rest)), quiet_(quiet), thread_([this] { run(); }) {}
  ~BatchThread() { stop(); }
  BatchThread(const BatchThread&) = delete;
  BatchThread& operator=(const BatchThread&) = delete;

  // Takes the item only if the answer is `yes`. `bytes` is about how much memory the item holds.
  Posted post(Item&& item, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return Posted::stopped;
    const bool fits = waiting_.size() < limits_.items && waiting_bytes_ + bytes <= limits_.bytes;
    if (!waiting_.empty() && !fits) return Posted::full;
    waiting_.push_back(std::move(item));
    waiting_bytes_ += bytes;
    wake_.notify_one();
    return Posted::yes;
  }

  // Rejects new items, processes those that wait, and joins the thread.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    const auto called = [this] { return stopped_ || !waiting_.empty(); };
    bool rested = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!std::exchange(rested, true) && rest_ && !wake_.wait_for(lock, quiet_, called)) {
        lock.unlock();
        rest_();
        lock.lock();
      }
      wake_.wait(lock, called);
      if (waiting_.empty()) return;
      rested = false;
      auto batch = std::exchange(waiting_, {});
      waiting_bytes_ = 0;
      lock.unlock();
      work_(std::move(batch));
      lock.lock();
    }
  }

  const BacklogLimits limits_;
  const Work work_;
  const Rest rest_;
  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Item> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool stopped_ = false;
  std::thread thread_;  // last: uses the other members
};

}  // namespace proteus
