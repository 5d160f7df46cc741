#include "datasets/sources/source_pool.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "base/log/log.hpp"

namespace proteus::datasets {

std::shared_ptr<SourcePool> SourcePool::make(BackgroundThreads& ends, Secret dsn, std::string schema,
                                             SourcePoolOptions options) {
  return ends.ending_here(std::make_shared<SourcePool>(std::move(dsn), std::move(schema), options));
}

SourcePool::SourcePool(Secret dsn, std::string schema, SourcePoolOptions options)
    : dsn_(std::move(dsn)), schema_(std::move(schema)), options_(options) {}

SourcePool::~SourcePool() {
  std::deque<Job> left;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    left = std::exchange(waiting_, {});
    for (const auto& flag : running_)
      flag->store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
  for (const Job& job : left)
    job.run(std::unexpected(errors::cancelled("reading the source")), job.patience);
  for (auto* all : {&threads_, &ended_}) {
    for (auto& thread : *all)
      thread.join();
  }
}

void SourcePool::end_overdue() {
  std::vector<Job> overdue;
  {
    const std::lock_guard lock(mutex_);
    for (auto job = waiting_.begin(); job != waiting_.end();) {
      if (!job->patience.is_over()) {
        ++job;
        continue;
      }
      overdue.push_back(std::move(*job));
      job = waiting_.erase(job);
    }
  }
  for (const Job& job : overdue)
    job.run(std::unexpected(job.patience.error()), job.patience);
}

Result<Patience> SourcePool::post(GivenUp given_up, Run run) {
  end_overdue();
  Patience patience{.until = std::chrono::steady_clock::now() + options_.patience, .given_up = given_up};
  std::list<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.waiting)
      return std::unexpected(errors::exhausted("too many requests wait for the source"));
    ended = std::exchange(ended_, {});
    waiting_.push_back({patience, std::move(given_up), std::move(run)});
    if (waiting_.size() > idle_ && threads_running_ < options_.connections) {
      threads_.emplace_back([this] { serve(); });
      ++threads_running_;
    }
  }
  wake_.notify_one();
  for (auto& thread : ended)
    thread.join();
  return patience;
}

void SourcePool::serve() {
  std::unique_ptr<Source> source;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool woken = wake_.wait_for(lock, options_.idle, [this] { return stopped_ || !waiting_.empty(); });
    --idle_;
    if (stopped_ || !woken) break;
    const Job job = std::move(waiting_.front());
    waiting_.pop_front();
    const auto entry = running_.insert(running_.end(), job.given_up);
    lock.unlock();
    serve(source, job);
    lock.lock();
    running_.erase(entry);
  }
  if (source) open_.fetch_sub(1, std::memory_order_relaxed);
  --threads_running_;
  if (stopped_) return;
  // Another thread joins this one: the next caller of `post`, or the destructor.
  const auto self = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
  ended_.splice(ended_.end(), threads_, self);
}

void SourcePool::serve(std::unique_ptr<Source>& source, const Job& job) {
  if (job.patience.is_over()) return job.run(std::unexpected(job.patience.error()), job.patience);
  bool keeps = false;
  try {
    if (!source) {
      auto opened = open_source(dsn_, schema_, job.patience);
      if (!opened) return job.run(std::unexpected(std::move(opened.error())), job.patience);
      source = std::move(*opened);
      open_.fetch_add(1, std::memory_order_relaxed);
    }
    job.run(source.get(), job.patience);
    keeps = source->is_usable();
  } catch (const std::exception& failure) {
    log::error("work on a source threw: {}", failure.what());
    job.run(std::unexpected(errors::internal("reading the source failed")), job.patience);
  }
  if (keeps || !source) return;
  // Work that threw may have left a transaction open.
  source.reset();
  open_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace proteus::datasets
