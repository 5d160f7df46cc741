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

#include "base/delivery.hpp"
#include "base/task.hpp"

namespace proteus {

// Threads of low priority for computing that takes long because of what strangers sent: parsing, hashing and comparing
// definitions. A thread that answers requests hands it over and goes on. Safe to use from any thread.
//
// First come, first served: whoever hands work over should wait for it before handing over more, so that one stranger's
// work delays others by one piece at most. Its destructor waits for work that has begun and drops the rest.
class BackgroundThreads {
 public:
  explicit BackgroundThreads(std::size_t count);
  ~BackgroundThreads();
  BackgroundThreads(const BackgroundThreads&) = delete;
  BackgroundThreads& operator=(const BackgroundThreads&) = delete;

  // What so many bytes take is done sooner than handed over.
  static constexpr std::size_t kSmall = std::size_t{16} * 1024;

  // Does work on `bytes` of data, here where they are few.
  template <class Work, class Value = std::invoke_result_t<Work&>>
  Task<Value> run(std::size_t bytes, Work work) {
    if (bytes <= kSmall) co_return work();
    co_return co_await run(std::move(work));
  }

  // The same value, which ends on one of these threads, whoever lets go of it last: ending what is large takes long,
  // too. Where they have stopped it ends where it is let go of.
  template <class T>
  std::shared_ptr<T> ending_here(std::shared_ptr<T> value) {
    T* const address = value.get();
    if (address == nullptr) return value;
    return {address, [queue = std::weak_ptr(queue_), value = std::move(value)](T*) mutable {
              if (const auto threads = queue.lock()) threads->post([ends = std::move(value)] {});
            }};
  }

  // Gives the result of the work on the awaiting coroutine's executor; an exception is passed on. The coroutine may be
  // cancelled, and the work then ends for nobody: it must own what it uses.
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

  // What waits for a thread. What is posted after `stop` ends at once.
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
