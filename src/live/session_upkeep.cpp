#include "live/session_upkeep.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/waiting.hpp"

namespace proteus::live {

SessionUpkeep::SessionUpkeep(boost::asio::io_context& io, server::Sessions& sessions, server::SessionRecords& records,
                             const redis::Client& client, Options options)
    : io_(io), sessions_(sessions), records_(records), client_(client), options_(options), tasks_(io.get_executor()) {}

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
  std::uint64_t lapses = options_.lapses();
  for (;;) {
    co_await sleep_for(options_.tick);
    const auto now = Time::now();
    const std::uint64_t current = client_.connection();
    const std::uint64_t lapsed = options_.lapses();
    const auto pause = options_.is_unseen() ? options_.patience : options_.every;
    if (current == 0 || (current == connection && lapsed == lapses && now - looked < pause)) continue;
    if (!co_await look()) continue;
    looked = now;
    connection = current;
    lapses = lapsed;
  }
}

Task<bool> SessionUpkeep::look() {
  for (const auto& [session, began, last_used] : sessions_.all()) {
    const auto holder = session->holder();
    if (!holder) continue;
    const auto held = co_await records_.hold(session->id().value(), session->record());
    if (!held) co_return false;
    // It may have ended meanwhile.
    if (!session->holder()) records_.remove(session->id().value(), *holder);
    if (*held) continue;
    log::info("a session was taken over by another process while this one was taken for dead");
    sessions_.drop(session->id());
  }
  co_return true;
}

}  // namespace proteus::live
