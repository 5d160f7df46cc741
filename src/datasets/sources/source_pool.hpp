#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/delivery.hpp"
#include "base/tasks/task.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

struct SourcePoolOptions {
  std::size_t connections = 4;                 // at the same time; each has a thread
  std::size_t waiting = 64;                    // for a connection; more are rejected
  std::chrono::milliseconds patience{10'000};  // for one piece of work, including the wait
  std::chrono::milliseconds slack{1'000};  // extra time for a thread to report a timeout; then its caller stops waiting
  std::chrono::milliseconds idle{60'000};  // after which a connection is closed
};

// Connections to one source, and threads that block on them on behalf of coroutines. Opens nothing until there is work.
// Thread-safe. The destructor cancels what still runs and waits for it: for a moment, or for as long as a name lookup
// or a disk takes.
class SourcePool {
 public:
  // Makes a pool that is destroyed on a thread of `ends`, so that the thread that releases it last need not wait.
  static std::shared_ptr<SourcePool> make(BackgroundThreads& ends, Secret dsn, std::string schema,
                                          SourcePoolOptions options = {});
  SourcePool(Secret dsn, std::string schema, SourcePoolOptions options = {});
  ~SourcePool();
  SourcePool(const SourcePool&) = delete;
  SourcePool& operator=(const SourcePool&) = delete;

  // A flag that soon ends a piece of work once it is true.
  using GivenUp = std::shared_ptr<std::atomic<bool>>;

  // Runs `work` with a connection, on a thread of the pool. `work` must not refer to the coroutine, which ends when it
  // is cancelled, or when its time is over while the threads are stuck; the work is then given up.
  template <class T>
  static Task<Result<T>> run(std::shared_ptr<SourcePool> pool, std::function<Result<T>(Source&, const Patience&)> work,
                             GivenUp given_up) {
    struct GiveUp {
      explicit GiveUp(GivenUp up) : flag(std::move(up)) {}
      ~GiveUp() { flag->store(true, std::memory_order_relaxed); }
      GiveUp(const GiveUp&) = delete;
      GiveUp& operator=(const GiveUp&) = delete;
      GivenUp flag;
    };
    const GiveUp at_the_end(given_up);
    auto delivery = std::make_shared<Delivery<Result<T>>>();
    auto posted = pool->post(std::move(given_up),
                             [delivery, work = std::move(work)](Result<Source*> source, const Patience& patience) {
                               if (!source) return deliver<T>(*delivery, std::unexpected(std::move(source.error())));
                               deliver<T>(*delivery, work(**source, patience));
                             });
    if (!posted) co_return std::unexpected(std::move(posted.error()));
    auto result = co_await Delivery<Result<T>>::receive_until(delivery, posted->until + pool->options_.slack);
    if (!result) co_return std::unexpected(posted->error());
    co_return std::move(*result);
  }

  // Returns the number of open connections.
  std::size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  using Run = std::function<void(Result<Source*>, const Patience&)>;
  struct Job {
    Patience patience;
    GivenUp given_up;
    Run run;
  };

  template <class T>
  static void deliver(Delivery<Result<T>>& delivery, Result<T> result) {
    delivery.deliver(std::move(result));
  }

  Result<Patience> post(GivenUp given_up, Run run);
  // Fails waiting jobs whose time is over, which frees their places even if every thread is stuck.
  void end_overdue();
  void serve();
  void serve(std::unique_ptr<Source>& source, const Job& job);

  const Secret dsn_;
  const std::string schema_;
  const SourcePoolOptions options_;
  std::atomic<std::size_t> open_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  std::list<GivenUp> running_;
  std::size_t threads_running_ = 0;
  std::size_t idle_ = 0;
  bool stopped_ = false;
  std::list<std::thread> threads_;
  std::list<std::thread> ended_;  // to be joined
};

}  // namespace proteus::datasets
