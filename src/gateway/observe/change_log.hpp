#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/background_threads.hpp"
#include "base/stranger_log.hpp"
#include "base/task_group.hpp"
#include "catalog/view/catalog.hpp"
#include "providers/refresh_result.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// What became of one upstream's definitions, as the log has it.
struct LoggedChange {
  std::uint64_t number = 0;  // 0: the store could not keep it, so that only those hear of it who listen now
  Clock::Wall at{};
  catalog::Change change;
};

// Everything that upstreams ever changed, numbered by the store. Nobody who reports a change waits: they are written in
// the background, in the order they were reported, several at once where they come fast.
//
// Thread-safe, apart from `stop`. Made before anything is reported; `stop` must have ended before it is destroyed.
class ChangeLog {
 public:
  // So many may wait to be written; beyond it the oldest are given up.
  static constexpr std::size_t kMaxWaiting = 10'000;

  // All of these outlive it.
  ChangeLog(boost::asio::io_context& control, store::Store& store, BackgroundThreads& threads);

  // For Gateway::set_on_refreshed: a refresh that changed nothing leaves no trace, and neither does one
  // beside the process that watches the upstream.
  void refreshed(const providers::RefreshResult& result);
  // For Gateway::set_on_changed.
  void changed(const catalog::Publication& publication, Clock::Wall at);

  // Called on the control thread after the change was written, one at a time; must not block, and must not call back
  // here.
  using Listener = std::function<void(const LoggedChange&)>;
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;
    // The listener is not called any more when this has ended.
    ~Registration();

   private:
    friend class ChangeLog;
    Registration(ChangeLog& log, std::uint64_t id) : log_(&log), id_(id) {}
    ChangeLog* log_ = nullptr;
    std::uint64_t id_ = 0;
  };
  // `of_others` is called when another process has written some, on the control thread as well.
  [[nodiscard]] Registration listen(Listener listener, std::function<void()> of_others = {});

  // Another process, or this one, has written changes that can be read now.
  void follow();

  // As Store::changes.
  Task<Result<store::ChangePage>> read(std::uint64_t since, std::size_t limit) { return store_.changes(since, limit); }

  // On the control thread, when nobody reports any more. Writes what still waits.
  Task<> stop();

 private:
  void report(catalog::Change change, Clock::Wall at);
  bool is_writing();
  Task<> write_waiting();
  void tell(const std::vector<LoggedChange>& changes);

  boost::asio::io_context& control_;
  store::Store& store_;
  BackgroundThreads& threads_;
  StrangerLog lines_{"the log of changes"};
  TaskGroup background_;  // on the control thread

  std::mutex mutex_;
  std::deque<LoggedChange> waiting_;
  bool writing_ = false;

  std::mutex listening_;
  std::uint64_t last_id_ = 0;
  struct Listening {
    Listener listener;
    std::function<void()> of_others;
  };
  std::map<std::uint64_t, Listening> listeners_;
};

// The kinds a change is about, for the store: "tools,prompts".
std::string write_kinds(catalog::KindSet kinds);

}  // namespace proteus::gateway
