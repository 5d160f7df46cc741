#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::gateway {

// The tasks that the client of one session has begun, or has asked for since: an upstream sees many callers of the
// gateway as one, and may tell of all their tasks. At most so many; the oldest are forgotten. Thread-safe.
class SessionTasks {
 public:
  static constexpr std::size_t kMost = 256;

  // `shown` is the id that the client knows it by. What is there already stays where it is.
  void add(std::string_view shown, std::string_view upstream, std::string_view own);
  void remove(std::string_view shown);
  // The client's id for an upstream's; nothing where this session has no such task.
  std::optional<std::string> shown(std::string_view upstream, std::string_view own) const;

  struct Page {
    std::vector<std::string> ids;
    bool more = false;

    friend bool operator==(const Page&, const Page&) = default;
  };
  // Those behind one of them, the first one where that is empty, in the order in which they came. Nothing where that
  // one is not there.
  std::optional<Page> after(std::string_view shown, std::size_t count) const;

 private:
  struct Known {
    std::string shown;
    std::string upstream;
    std::string own;
  };
  mutable std::mutex mutex_;
  std::deque<Known> known_;
};

}  // namespace proteus::gateway
