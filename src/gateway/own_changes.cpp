#include "gateway/own_changes.hpp"

#include <utility>

#include "gateway/principal.hpp"

namespace proteus::gateway {

OwnChanges::OwnChanges(boost::asio::io_context& io, server::Listeners& listeners, std::chrono::milliseconds debounce)
    : listeners_(listeners), debounce_(debounce), timer_(io) {}

void OwnChanges::changed(const std::shared_ptr<const LocalProvider>& provider) {
  if (stopped_) return;
  if (const auto held = again_.find(provider.get()); held != again_.end()) {
    held->second = true;
    return;
  }
  tell(*provider);
  hold(provider);
}

void OwnChanges::changed_for_the_last_time(const LocalProvider& provider) {
  if (stopped_) return;
  if (const auto held = again_.find(&provider); held != again_.end()) held->second = false;
  tell(provider);
}

void OwnChanges::tell(const LocalProvider& provider) {
  listeners_.list_changed(mcp::Method::tools_changed, server::Listeners::Concerns([&](const server::Caller& caller) {
                            return principal_of(caller).own().get() == &provider;
                          }));
  if (observer_) observer_();
}

void OwnChanges::hold(std::shared_ptr<const LocalProvider> provider) {
  again_.emplace(provider.get(), false);
  told_.push_back({std::chrono::steady_clock::now() + debounce_, std::move(provider)});
  if (!std::exchange(waiting_, true)) wait();
}

void OwnChanges::wait() {
  timer_.expires_at(told_.front().until);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) go_on();
  });
}

void OwnChanges::go_on() {
  const Time now = std::chrono::steady_clock::now();
  while (!told_.empty() && told_.front().until <= now) {
    const Told first = std::move(told_.front());
    told_.pop_front();
    const bool again = again_.extract(first.provider.get()).mapped();
    if (!again) continue;
    tell(*first.provider);
    hold(first.provider);
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
