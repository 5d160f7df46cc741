#include "live/session_upkeep.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/waiting.hpp"

namespace proteus::live {

SessionUpkeep::SessionUpkeep(boost::asio::io_context& io, server::Sessions& sessions, const redis::Client& client,
                             Options options)
    : io_(io), sessions_(sessions), client_(client), options_(std::move(options)), tasks_(io.get_executor()) {}

void SessionUpkeep::start() {
  boost::asio::post(io_, [this] {
    if (!stopped_) tasks_.spawn("looking after sessions in Redis", run());
  });
}

Task<> SessionUpkeep::stop() {
  stopped_ = true;
  co_await boost::asio::post(io_, boost::asio::use_awaitable);
  tasks_.cancel();
  co_await tasks_.join();
}

Task<> SessionUpkeep::run() {
  using Time = std::chrono::steady_clock;
  auto looked = Time::now();
  std::uint64_t connection = client_.connection();
  bool doubted = false;
  for (;;) {
    co_await sleep_for(options_.tick);
    const auto now = Time::now();
    const std::uint64_t current = client_.connection();
    const bool doubt = options_.is_in_doubt();
    // Also when the doubt is over: nobody takes one after that.
    const bool is_due = now - looked >= (doubt ? options_.when_in_doubt : options_.every) || doubt != doubted;
    if (current == 0 || (current == connection && !is_due)) continue;
    if (!co_await look()) continue;
    looked = now;
    connection = current;
    doubted = doubt;
  }
}

Task<bool> SessionUpkeep::look() {
  for (auto& [session, began, last_used] : sessions_.all()) {
    if (!co_await sessions_.make_sure(std::move(session))) co_return false;
  }
  co_return true;
}

}  // namespace proteus::live
