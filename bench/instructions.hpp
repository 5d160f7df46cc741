#pragma once

#include <cstdint>
#include <cstring>

#include <benchmark/benchmark.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace proteus::bench {

// Counts the instructions that this thread retires in user space from construction to `report`, which adds
// them to a benchmark as a counter per iteration. Adds nothing where the kernel or the machine does not count
// them, as in most containers. Times on a shared machine vary by the neighbours; instructions do not.
class Instructions {
 public:
  Instructions() {
    perf_event_attr wanted;
    std::memset(&wanted, 0, sizeof wanted);
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    counter_ = static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
  }
  ~Instructions() {
    if (counter_ >= 0) close(counter_);
  }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;

  void report(benchmark::State& state) const {
    std::uint64_t count = 0;
    if (counter_ < 0 || read(counter_, &count, sizeof count) != static_cast<ssize_t>(sizeof count)) return;
    state.counters["instructions"] =
        benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
  }

 private:
  int counter_ = -1;
};

}  // namespace proteus::bench
