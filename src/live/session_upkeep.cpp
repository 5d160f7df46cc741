#include "live/session_upkeep.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "base/tasks/waiting.hpp"
#include "live/live_keys.hpp"

namespace proteus::live {

namespace {

constexpr std::string_view kLooking = "looking";
constexpr std::string_view kKept = "kept";

}  // namespace

SessionUpkeep::SessionUpkeep(boost::asio::io_context& io, server::Sessions& sessions, redis::Client& client,
                             const ProcessKey& self, Options options)
    : io_(io),
      sessions_(sessions),
      client_(client),
      mark_(LiveKeys::process(self)),
      options_(std::move(options)),
      expiry_(std::to_string(options_.expiry.count())),
      tasks_(io.get_executor()) {}

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
  std::uint64_t connection = 0;
  bool doubted = false;
  for (;;) {
    co_await sleep_for(options_.tick);
    if (connection != 0 && client_.connection() == connection && co_await has_lost_its_mark()) {
      log::warning("Redis at {} was emptied: sessions are written again, and streams with their next event",
                   client_.url().shown());
      client_.renew();
    }
    const auto now = Time::now();
    const std::uint64_t current = client_.connection();
    const bool doubt = options_.is_in_doubt();
    // Also once when the doubt has ended: from then on, no other process takes a session.
    const bool is_due = now - looked >= (doubt ? options_.when_in_doubt : options_.every) || doubt != doubted;
    if (current == 0 || (current == connection && !is_due)) continue;
    if (!co_await look()) continue;
    looked = now;
    connection = current;
    doubted = doubt;
  }
}

// If Redis is emptied between the two marks, the first one is gone and the second one is not written.
Task<bool> SessionUpkeep::look() {
  if (!co_await mark(kLooking, {}) || !co_await options_.remove_again()) co_return false;
  for (auto& [session, began, last_used] : sessions_.all()) {
    if (!co_await sessions_.make_sure(std::move(session))) co_return false;
  }
  co_return co_await mark(kKept, "XX");
}

Task<bool> SessionUpkeep::mark(std::string_view text, std::string_view condition) {
  std::vector<std::string> words = {"SET", mark_, std::string(text), "PX", expiry_};
  if (!condition.empty()) words.emplace_back(condition);
  co_return (co_await client_.ask(std::move(words))).has_value();
}

// Returns false if Redis does not answer. A mark that still says `kLooking` is not lost: `look` failed, and is
// repeated.
Task<bool> SessionUpkeep::has_lost_its_mark() {
  const auto reply = co_await client_.ask({"GETEX", mark_, "PX", expiry_});
  co_return reply && !reply->string();
}

}  // namespace proteus::live
