#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace proteus::client {

// Functions that wait to be run, in the order of their arrival. Bounded, because servers cause them. Not thread-safe.
class WaitingFunctions {
 public:
  static constexpr std::size_t kMost = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20U;

  using Number = std::uint64_t;
  static constexpr Number kNone = 0;

  // `bytes` is about the memory that the function holds. Returns kNone, and counts the function as dropped, if there is
  // no room for it.
  Number push(std::function<void()> function, std::size_t bytes) {
    if (!waiting_.empty() && (waiting_.size() >= kMost || bytes_ + bytes > kMostBytes)) {
      ++dropped_;
      return kNone;
    }
    bytes_ += bytes;
    waiting_.try_emplace(++last_, std::move(function), bytes);
    return last_;
  }

  bool empty() const { return waiting_.empty(); }
  // Removes the first function and returns it.
  std::function<void()> pop() { return take(waiting_.begin()); }
  // Removes a function that was not popped yet.
  void withdraw(Number number) {
    if (const auto found = waiting_.find(number); found != waiting_.end()) take(found);
  }
  void clear() {
    waiting_.clear();
    bytes_ = 0;
  }
  // Returns how many functions were dropped since the last call.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0U); }

 private:
  using Waiting = std::map<Number, std::pair<std::function<void()>, std::size_t>>;

  std::function<void()> take(Waiting::iterator at) {
    auto [function, bytes] = std::move(at->second);
    bytes_ -= bytes;
    waiting_.erase(at);
    return std::move(function);
  }

  Waiting waiting_;
  std::size_t bytes_ = 0;
  Number last_ = kNone;
  std::uint64_t dropped_ = 0;
};

}  // namespace proteus::client
