#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/debounce.hpp"
#include "gateway/sessions/tool_session.hpp"
#include "server/core/listeners.hpp"

namespace proteus::gateway {

// Tells the clients of a tool session that its tools are others: at once, and then not again before the
// debounce window has passed; changes within it are one. Nobody else hears of it.
//
// Belongs to the thread of the context; the listeners outlive it. `stop` must have been called before the context ends.
class OwnChanges {
 public:
  OwnChanges(boost::asio::io_context& io, server::Listeners& listeners, std::chrono::milliseconds debounce);

  void changed(const std::shared_ptr<const ToolSession>& session);
  // The same without waiting, for one whose clients go.
  void changed_for_the_last_time(const ToolSession& session);
  // For each time that clients were told.
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
  std::unordered_map<const ToolSession*, bool> again_;  // of those: whether they changed since
};

}  // namespace proteus::gateway
