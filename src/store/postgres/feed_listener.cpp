#include "store/postgres/feed_listener.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>

namespace proteus::store {

FeedListener::FeedListener(const PostgresOptions& options, std::function<void()> grew)
    : options_(options),
      grew_(std::move(grew)),
      connection_(options),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { run(); }) {}

FeedListener::~FeedListener() {
  stopped_ = true;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void FeedListener::run() {
  while (!stopped_) {
    auto pause = connection_.pause();
    if (const auto connection = connection_.get(); connection && !listen(**connection)) pause = options_.look_interval;
    pollfd entry{.fd = stop_.get(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, static_cast<int>(std::max(pause, connection_.pause()).count()));
  }
}

// The first `look` comes after LISTEN, so that no earlier commit is missed.
bool FeedListener::listen(PostgresConnection& connection) {
  if (!connection.execute("LISTEN proteus_feed")) return false;
  while (!stopped_) {
    if (!look(connection)) return !connection.is_usable();
    if (!connection.wait_for_notification(stop_.get(), options_.look_interval)) return true;
  }
  return true;
}

bool FeedListener::look(PostgresConnection& connection) {
  auto row = connection.query("SELECT value FROM counters WHERE name = 'feed'");
  const auto found = row.step();
  if (!found || !*found) return false;
  if (std::exchange(newest_, row.integer(0)) != row.integer(0)) grew_();
  return true;
}

}  // namespace proteus::store
