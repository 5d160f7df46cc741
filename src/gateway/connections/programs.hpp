#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"

namespace proteus::gateway {

class Worker;

struct ProgramLimits {
  std::size_t total = 256;
  std::size_t per_upstream = 64;
};

// Limits the programs that run for single callers: a legacy upstream with a command has one for each caller. Does not
// count the programs that the gateway runs for itself. Thread-safe.
class Programs {
 public:
  explicit Programs(ProgramLimits limits) : limits_(limits) {}

  // Sets the workers whose upstream sessions run the programs. They must outlive this. Must be set before the first
  // request.
  void set_workers(std::vector<Worker*> workers);

  // Takes a place for one more program of an upstream; the place is free again when the last copy of the result is
  // destroyed, on any thread. If there is none, ends the program that has been idle longest. Fails if all are in use.
  // Must be called on a worker's thread.
  Task<Result<std::shared_ptr<void>>> take(std::uint64_t instance);
  // Whether so many more programs of an upstream may start without ending another.
  bool has_room(std::uint64_t instance, std::size_t count) const;
  std::size_t running() const;

 private:
  enum class Full : std::uint8_t { not_yet, of_upstream, in_all };

  // To be called with the mutex locked.
  Full how_full(std::uint64_t instance) const;
  // Counts one more program if the limits allow it.
  Full count(std::uint64_t instance);
  void give_back(std::uint64_t instance);
  Task<bool> end_one(std::optional<std::uint64_t> instance);
  Error refusal(Full full) const;

  const ProgramLimits limits_;
  std::vector<Worker*> workers_;
  mutable std::mutex mutex_;
  std::size_t running_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> by_upstream_;  // no entry: no program
};

}  // namespace proteus::gateway
