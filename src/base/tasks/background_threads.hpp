#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/tasks/delivery.hpp"
#include "base/tasks/task.hpp"

namespace proteus {

// Low-priority threads for long computations on untrusted input: parsing, hashing and comparing definitions. Request
// threads hand such work over instead of blocking. Thread-safe.
//
// Work runs in the order of arrival. A coroutine should await its work before it hands over more, so that one peer
// delays others by at most one piece of work.
class BackgroundThreads {
 public:
  explicit BackgroundThreads(std::size_t count);
  ~BackgroundThreads();
  // Waits for running work and drops the rest; coroutines that await dropped work are not resumed. Belongs to the
  // owner. The destructor does the same.
  void stop();
  BackgroundThreads(const BackgroundThreads&) = delete;
  BackgroundThreads& operator=(const BackgroundThreads&) = delete;

  // Work on this many bytes or fewer costs less than handing it over.
  static constexpr std::size_t kSmall = std::size_t{16} * 1024;

  // Runs `work`, which processes `bytes` bytes: on the calling thread if there are at most `kSmall`.
  template <class Work, class Value = std::invoke_result_t<Work&>>
  Task<Value> run(std::size_t bytes, Work work) {
    if (bytes <= kSmall) co_return work();
    co_return co_await run(std::move(work));
  }

  // Returns the same value with a deleter that destroys it on one of these threads, whichever thread releases it last:
  // destroying large values takes long, too. Once these threads have stopped, the releasing thread destroys it.
  template <class T>
  std::shared_ptr<T> ending_here(std::shared_ptr<T> value) {
    T* const address = value.get();
    if (address == nullptr) return value;
    return {address, [queue = std::weak_ptr(queue_), value = std::move(value)](T*) mutable {
              if (const auto threads = queue.lock()) threads->post([ends = std::move(value)] {});
            }};
  }

  // Resumes on the awaiting coroutine's executor with the result of `work`, or throws its exception. The coroutine may
  // be cancelled while the work runs, and the result is then dropped: `work` must own what it uses.
  template <class Work, class Value = std::invoke_result_t<Work&>>
  Task<Value> run(Work work) {
    using Outcome = std::variant<Value, std::exception_ptr>;
    const auto delivery = std::make_shared<Delivery<Outcome>>();
    queue_->post([delivery, work = std::move(work)]() mutable {
      try {
        delivery->deliver(Outcome(std::in_place_index<0>, work()));
      } catch (...) {
        delivery->deliver(Outcome(std::in_place_index<1>, std::current_exception()));
      }
    });
    Outcome outcome = co_await Delivery<Outcome>::receive(delivery);
    if (outcome.index() == 1) std::rethrow_exception(std::get<1>(outcome));
    co_return std::get<0>(std::move(outcome));
  }

 private:
  using Job = std::move_only_function<void()>;

  // The jobs that wait for a thread. A job that is posted after `stop` is destroyed at once.
  class Queue {
   public:
    void post(Job job);
    void stop();
    void work();

   private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Job> waiting_;
    bool stopped_ = false;
  };

  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::vector<std::thread> threads_;
};

}  // namespace proteus
