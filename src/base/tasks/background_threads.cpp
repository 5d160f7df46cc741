#include "base/tasks/background_threads.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace proteus {
namespace {

// A tenth of the time of a normal thread when both compete for a core.
constexpr int kNice = 10;

// Lowers the priority of this thread relative to that of the process, which may be lowered itself. On Linux each thread
// has its own priority.
void lower_priority() {
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + kNice);
}

}  // namespace

BackgroundThreads::BackgroundThreads(std::size_t count) {
  threads_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    threads_.emplace_back([queue = queue_] { queue->work(); });
}

BackgroundThreads::~BackgroundThreads() { stop(); }

void BackgroundThreads::stop() {
  queue_->stop();
  for (auto& thread : std::exchange(threads_, {}))
    thread.join();
}

void BackgroundThreads::Queue::stop() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  wake_.notify_all();
}

void BackgroundThreads::Queue::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void BackgroundThreads::Queue::work() {
  ::pthread_setname_np(::pthread_self(), "background");
  lower_priority();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace proteus
