#include "net/io/stall_watch.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <pthread.h>
#include <semaphore.h>

#include "base/log/log.hpp"

namespace proteus::net {
namespace {

constexpr int kLooksPerThreshold = 5;
constexpr int kFrames = 16;
// Number of frames of the signal handler itself and of the system's code that calls it.
constexpr int kOwnFrames = 2;

std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The call stack of another thread, which that thread records itself in a signal handler. For one reader at a time.
class ForeignStack {
 public:
  ForeignStack() {
    ::sem_init(&written_, 0, 0);
    // The first call of `backtrace` loads a library, which a signal handler must not do.
    frames_count_ = ::backtrace(frames_.data(), 1);
    struct sigaction action = {};
    action.sa_handler = [](int) { the().write(); };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGPROF, &action, nullptr);
  }

  static ForeignStack& the() {
    static ForeignStack stack;
    return stack;
  }

  // Returns the stack, innermost frame first; empty if the thread does not answer.
  std::string of(pthread_t thread) {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
    if (::pthread_kill(thread, SIGPROF) != 0) {
      wanted_ = false;
      return {};
    }
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (::sem_timedwait(&written_, &until) != 0) {
      // If the thread has begun to write, wait until it has finished.
      if (wanted_.exchange(false)) return {};
      while (::sem_wait(&written_) != 0) {
      }
    }
    std::string text;
    for (int i = kOwnFrames; i < frames_count_; ++i) {
      if (!text.empty()) text += " < ";
      text += name_of(frames_[static_cast<std::size_t>(i)]);
    }
    return text;
  }

 private:
  void write() {
    if (!wanted_.exchange(false)) return;  // the signal came too late, or from elsewhere
    frames_count_ = ::backtrace(frames_.data(), kFrames);
    ::sem_post(&written_);
  }

  // Returns the function's name if the program exports it; otherwise file and offset, for `addr2line -Cfe`.
  static std::string name_of(void* address) {
    Dl_info info{};
    if (::dladdr(address, &info) == 0) return fmt::format("{}", address);
    if (info.dli_sname != nullptr) {
      int status = 0;
      const std::unique_ptr<char, decltype(&std::free)> name(
          abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
      return status == 0 ? name.get() : info.dli_sname;
    }
    const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
    return fmt::format("{}+{:#x}", std::filesystem::path(info.dli_fname).filename().string(), offset);
  }

  std::mutex mutex_;
  std::atomic<bool> wanted_ = false;  // a reader waits, and no thread has begun to write
  sem_t written_{};
  std::array<void*, kFrames> frames_{};
  int frames_count_ = 0;
};

}  // namespace

StallWatch::StallWatch(const std::vector<Worker>& workers, std::chrono::nanoseconds threshold) : threshold_(threshold) {
  ForeignStack::the();
  for (const Worker& worker : workers) {
    clockid_t clock{};
    if (::pthread_getcpuclockid(worker.thread, &clock) != 0) continue;
    watched_.push_back(
        {worker.io, boost::asio::use_service<Readiness>(worker.io), worker.thread, clock, 0, time_of(clock)});
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void StallWatch::run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "stall-watch");
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, threshold_ / kLooksPerThreshold, [&] { return stop.stop_requested(); })) {
    for (Watched& watched : watched_)
      look_at(watched);
  }
}

void StallWatch::look_at(Watched& watched) {
  const std::uint64_t beats = watched.readiness.beats();
  const auto now = time_of(watched.clock);
  if (beats != watched.beats) {
    watched.beats = beats;
    watched.since = now;
    watched.asked = watched.reported = false;
  }
  // Only handlers that a socket woke beat on their own, so this posts one that does. A thread that does nothing is left
  // alone.
  if (now > watched.since && !std::exchange(watched.asked, true))
    boost::asio::post(watched.io, [&readiness = watched.readiness] { readiness.beat(); });
  if (now - watched.since < threshold_ || std::exchange(watched.reported, true)) return;
  count_.fetch_add(1, std::memory_order_relaxed);
  report(watched, now - watched.since);
}

void StallWatch::report(const Watched& watched, std::chrono::nanoseconds spent) {
  std::array<char, 16> name{};
  ::pthread_getname_np(watched.thread, name.data(), name.size());
  const std::string place = ForeignStack::the().of(watched.thread);
  log::warning("{} stalled: one handler has run for {} ms of CPU time, at {}", name.data(),
               std::chrono::duration_cast<std::chrono::milliseconds>(spent).count(),
               place.empty() ? "an unknown place" : place);
}

}  // namespace proteus::net
