#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/tasks/debounce.hpp"
#include "gateway/sessions/tool_session.hpp"
#include "server/core/listeners.hpp"

namespace proteus::gateway {

// Notifies the clients of a tool session that its tools have changed: at once, and then at most once per debounce
// window, however many changes the window has. No other client is notified.
//
// Used on the thread of `io` only. The listeners must outlive this object. `stop` must be called before `io` is
// destroyed.
class OwnChanges {
 public:
  OwnChanges(boost::asio::io_context& io, server::Listeners& listeners, std::chrono::milliseconds debounce);

  void changed(const std::shared_ptr<const ToolSession>& session);
  // Notifies at once, whatever the debounce window, and drops a pending notification: for a session that is about to
  // end.
  void changed_for_the_last_time(const ToolSession& session);
  // Sets the callback for each notification that was sent.
  void set_observer(std::function<void()> observer) { observer_ = std::move(observer); }
  void stop();

 private:
  struct Told {
    Debounce telling;
    std::shared_ptr<const ToolSession> session;
  };

  void tell(const ToolSession& session);
  void hold(std::shared_ptr<const ToolSession> session);
  void wait();
  void go_on();

  server::Listeners& listeners_;
  const std::chrono::milliseconds window_;
  std::function<void()> observer_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
  bool waiting_ = false;
  std::deque<Told> told_;                               // by time; each session at most once
  std::unordered_map<const ToolSession*, bool> again_;  // for each session in `told_`: whether it has changed since
};

}  // namespace proteus::gateway
