#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"

namespace proteus::gateway {

class Worker;

struct ProgramLimits {
  std::size_t total = 256;
  std::size_t per_upstream = 64;
};

// How many programs run for single callers: upstreams that speak on standard streams and keep something for whoever
// calls have one for each. Those that the gateway runs for itself are not counted. Thread-safe.
class Programs {
 public:
  explicit Programs(ProgramLimits limits) : limits_(limits) {}

  // Whose lines run them. Before anything is asked; they outlive this.
  void set_workers(std::vector<Worker*> workers);

  // On a worker's thread: a place for one more of this upstream, given back by its last holder on any thread. Where
  // there is none, a program that nobody waits for ends first, the one used longest ago. Fails where all are in use.
  Task<Result<std::shared_ptr<void>>> take(std::uint64_t instance);
  std::size_t running() const;

 private:
  enum class Full : std::uint8_t { not_yet, of_upstream, in_all };

  // Counts one more, where that is allowed.
  Full count(std::uint64_t instance);
  void give_back(std::uint64_t instance);
  Task<bool> end_one(std::optional<std::uint64_t> instance);
  Error refusal(Full full) const;

  const ProgramLimits limits_;
  std::vector<Worker*> workers_;
  mutable std::mutex mutex_;
  std::size_t running_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> by_upstream_;  // none is zero
};

}  // namespace proteus::gateway
