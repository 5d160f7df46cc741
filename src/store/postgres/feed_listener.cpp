#include "store/postgres/feed_listener.hpp"

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
    if (const auto connection = connection_.get()) listen(**connection);
    pollfd entry{.fd = stop_.get(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, static_cast<int>(connection_.pause().count()));
  }
}

// What was committed before the listening began is found by the look after it.
void FeedListener::listen(PostgresConnection& connection) {
  if (!connection.execute("LISTEN proteus_feed")) return;
  while (!stopped_ && look(connection)) {
    if (!connection.wait_for_notification(stop_.get(), options_.look_interval)) return;
  }
}

bool FeedListener::look(PostgresConnection& connection) {
  auto row = connection.query("SELECT value FROM counters WHERE name = 'feed'");
  const auto found = row.step();
  if (!found || !*found) return false;
  if (std::exchange(newest_, row.integer(0)) != row.integer(0)) grew_();
  return true;
}

}  // namespace proteus::store
