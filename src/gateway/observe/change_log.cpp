#include "gateway/observe/change_log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::gateway {
namespace {

constexpr std::size_t kAtOnce = 100;

store::ChangeRecord record_of(const LoggedChange& logged) {
  return {.number = 0,
          .at = store::to_time(logged.at),
          .upstream = logged.change.upstream.value(),
          .kind = write_kinds(logged.change.which()),
          .change = fmt::format("{{{}}}", catalog::write_change(logged.change))};
}

store::Writes writes_of(const std::vector<LoggedChange>& changes) {
  store::Writes writes;
  for (const auto& logged : changes)
    writes.emplace_back(store::AppendChange{record_of(logged)});
  return writes;
}

// Returns about how many bytes there are to write.
std::size_t size_of(const std::vector<LoggedChange>& changes) {
  constexpr std::size_t kOfName = 64;
  std::size_t names = 0;
  for (const auto& logged : changes) {
    for (const catalog::Kind kind : catalog::kKinds) {
      const auto& change = logged.change.kinds[kind];
      names += change.added.size() + change.removed.size() + change.changed.size();
    }
  }
  return names * kOfName;
}

}  // namespace

std::string write_kinds(catalog::KindSet kinds) {
  std::string out;
  for (const catalog::Kind kind : catalog::kKinds) {
    if (kinds.has(kind)) out += fmt::format("{}{}", out.empty() ? "" : ",", catalog::info(kind).plural);
  }
  return out;
}

ChangeLog::ChangeLog(boost::asio::io_context& control, store::Store& store, BackgroundThreads& threads)
    : control_(control), store_(store), threads_(threads), background_(control.get_executor()) {}

void ChangeLog::refreshed(const providers::RefreshResult& result) {
  if (!result.is_logged_elsewhere) report(result.change, result.at);
}

void ChangeLog::changed(const catalog::Publication& publication, Clock::Wall at) {
  for (const auto& change : publication.changes)
    report(change, at);
}

void ChangeLog::report(catalog::Change change, Clock::Wall at) {
  if (change.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back({0, at, std::move(change)});
    if (waiting_.size() > kMaxWaiting) {
      lines_.warning("a change of upstream {} is not logged: too many wait", waiting_.front().change.upstream.value());
      waiting_.pop_front();
    }
    if (std::exchange(writing_, true)) return;
  }
  boost::asio::post(control_, [this] { background_.spawn("change log", write_waiting()); });
}

Task<> ChangeLog::write_waiting() {
  for (;;) {
    const auto batch = std::make_shared<std::vector<LoggedChange>>();
    auto& changes = *batch;
    {
      const std::scoped_lock lock(mutex_);
      const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kAtOnce));
      if (count == 0) {
        writing_ = false;
        co_return;
      }
      std::move(waiting_.begin(), waiting_.begin() + count, std::back_inserter(changes));
      waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    }
    try {
      // In the background, because an upstream decides how many names there are.
      auto writes = co_await threads_.run(size_of(changes), [batch] { return writes_of(*batch); });
      const auto written = co_await store_.write(std::move(writes));
      if (written) {
        for (std::size_t i = 0; i < changes.size(); ++i)
          changes[i].number = written->changes[i];
      } else {
        lines_.warning("{} changes of upstreams are not logged: {}", changes.size(), written.error().message());
      }
      tell(changes);
    } catch (const std::exception& fault) {
      log::error("{} changes of upstreams are not logged, or nobody is told of them: {}", changes.size(), fault.what());
    }
  }
}

void ChangeLog::tell(const std::vector<LoggedChange>& changes) {
  const std::scoped_lock lock(listening_);
  for (const auto& logged : changes) {
    for (const auto& [id, listening] : listeners_)
      listening.listener(logged);
  }
}

void ChangeLog::follow() {
  const std::scoped_lock lock(listening_);
  for (const auto& [id, listening] : listeners_) {
    if (listening.of_others) listening.of_others();
  }
}

ChangeLog::Registration ChangeLog::listen(Listener listener, std::function<void()> of_others) {
  const std::scoped_lock lock(listening_);
  listeners_.emplace(++last_id_, Listening{std::move(listener), std::move(of_others)});
  return {*this, last_id_};
}

bool ChangeLog::is_writing() {
  const std::scoped_lock lock(mutex_);
  return writing_;
}

Task<> ChangeLog::stop() {
  while (is_writing()) {
    co_await boost::asio::post(control_, boost::asio::use_awaitable);
    co_await background_.join();
  }
}

ChangeLog::Registration::Registration(Registration&& other) noexcept
    : log_(std::exchange(other.log_, nullptr)), id_(other.id_) {}

ChangeLog::Registration& ChangeLog::Registration::operator=(Registration&& other) noexcept {
  std::swap(log_, other.log_);
  std::swap(id_, other.id_);
  return *this;
}

ChangeLog::Registration::~Registration() {
  if (log_ == nullptr) return;
  const std::scoped_lock lock(log_->listening_);
  log_->listeners_.erase(id_);
}

}  // namespace proteus::gateway
