#include "gateway/sessions/own_changes.hpp"

#include <utility>

namespace proteus::gateway {

OwnChanges::OwnChanges(boost::asio::io_context& io, server::Listeners& listeners, std::chrono::milliseconds debounce)
    : listeners_(listeners), window_(debounce), timer_(io) {}

void OwnChanges::changed(const std::shared_ptr<const ToolSession>& session) {
  if (stopped_) return;
  if (const auto held = again_.find(session.get()); held != again_.end()) {
    held->second = true;
    return;
  }
  tell(*session);
  hold(session);
}

void OwnChanges::changed_for_the_last_time(const ToolSession& session) {
  if (stopped_) return;
  if (const auto held = again_.find(&session); held != again_.end()) held->second = false;
  tell(session);
}

void OwnChanges::tell(const ToolSession& session) {
  listeners_.list_changed_for(session.key(), mcp::Method::tools_changed);
  if (observer_) observer_();
}

void OwnChanges::hold(std::shared_ptr<const ToolSession> session) {
  again_.emplace(session.get(), false);
  told_.push_back({Debounce(window_, std::chrono::steady_clock::now()), std::move(session)});
  if (!std::exchange(waiting_, true)) wait();
}

void OwnChanges::wait() {
  timer_.expires_at(told_.front().telling.due(std::chrono::steady_clock::now()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) go_on();
  });
}

void OwnChanges::go_on() {
  const auto now = std::chrono::steady_clock::now();
  while (!told_.empty() && told_.front().telling.due(now) == now) {
    const Told first = std::move(told_.front());
    told_.pop_front();
    const bool again = again_.extract(first.session.get()).mapped();
    if (!again) continue;
    tell(*first.session);
    hold(first.session);
  }
  waiting_ = !told_.empty();
  if (waiting_) wait();
}

void OwnChanges::stop() {
  stopped_ = true;
  timer_.cancel();
  told_.clear();
  again_.clear();
}

}  // namespace proteus::gateway
