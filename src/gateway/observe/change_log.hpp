#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/log/stranger_log.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task_group.hpp"
#include "catalog/view/catalog.hpp"
#include "providers/refresh_result.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// A change of one upstream's definitions, as the log has it.
struct LoggedChange {
  std::uint64_t number = 0;  // 0: the store could not keep it, so that only present listeners receive it
  Clock::Wall at{};
  catalog::Change change;
};

// The log of all changes of upstreams, numbered by the store. Nobody who reports a change waits: changes are written in
// the background, in the order of the reports, and in batches if they come fast.
//
// Thread-safe, except for `stop`, which must complete before it is destroyed. To be constructed before anything is
// reported.
class ChangeLog {
 public:
  // Limit of changes that wait to be written. Beyond it, the oldest are dropped.
  static constexpr std::size_t kMaxWaiting = 10'000;

  // All references must outlive it.
  ChangeLog(boost::asio::io_context& control, store::Store& store, BackgroundThreads& threads);

  // For Gateway::set_on_refreshed. Does not log a refresh that changed nothing, or one in a process that does not watch
  // the upstream, because the process that does logs it.
  void refreshed(const providers::RefreshResult& result);
  // For Gateway::set_on_changed.
  void changed(const catalog::Publication& publication, Clock::Wall at);

  // Called on the control thread after the change was written, one at a time. Must not block, throw or call back here.
  using Listener = std::function<void(const LoggedChange&)>;
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;
    // Once this has returned, the listener is not called any more.
    ~Registration();

   private:
    friend class ChangeLog;
    Registration(ChangeLog& log, std::uint64_t id) : log_(&log), id_(id) {}
    ChangeLog* log_ = nullptr;
    std::uint64_t id_ = 0;
  };
  // Adds a listener. `of_others` is called, also on the control thread, when another process may have written changes.
  [[nodiscard]] Registration listen(Listener listener, std::function<void()> of_others = {});

  // Notifies listeners that another process, or this one, has written changes that can be read now.
  void follow();

  // See Store::changes.
  Task<Result<store::ChangePage>> read(std::uint64_t since, std::size_t limit) { return store_.changes(since, limit); }

  // To be called on the control thread, when nobody reports any more. Writes what still waits.
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

// Returns the kinds of a change as text for the store: "tools,prompts".
std::string write_kinds(catalog::KindSet kinds);

}  // namespace proteus::gateway
