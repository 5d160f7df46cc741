#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proteus::gateway {

// The tasks that the client of one session has begun or asked for. An upstream may see all callers of the gateway as
// one and list all their tasks, so its own list is not used. Keeps at most kMost; the oldest are forgotten.
// Thread-safe.
class SessionTasks {
 public:
  static constexpr std::size_t kMost = 256;

  // Adds a task; `shown` is the client's id. Does nothing if the task is known.
  void add(std::string_view shown, std::string_view upstream, std::string_view own);
  void remove(std::string_view shown);
  // Returns the client's id for an upstream's id; nothing if this session has no such task.
  std::optional<std::string> shown(std::string_view upstream, std::string_view own) const;

  struct Page {
    std::vector<std::string> ids;
    std::uint64_t last = 0;  // number of the last one
    bool more = false;
  };
  // Returns up to `count` tasks with numbers above `number`. Tasks are numbered from 1 in the order of `add`, so that a
  // place in the list stays valid when tasks are removed.
  Page after(std::uint64_t number, std::size_t count) const;

 private:
  struct Known {
    std::uint64_t number;
    std::string shown;
    std::string upstream;
    std::string own;
  };
  mutable std::mutex mutex_;
  std::deque<Known> known_;
  std::uint64_t last_ = 0;
};

}  // namespace proteus::gateway
