#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/unique_fd.hpp"
#include "store/postgres/reconnection.hpp"

namespace proteus::store {

// Notifies when the feed has grown. Listens for PostgreSQL's notifications, and also polls, because a notification is
// lost when a connection breaks.
class FeedListener {
 public:
  // `grew` is called on the listener's thread. `options` must outlive the listener.
  FeedListener(const PostgresOptions& options, std::function<void()> grew);
  ~FeedListener();
  FeedListener(const FeedListener&) = delete;
  FeedListener& operator=(const FeedListener&) = delete;

 private:
  void run();
  // Follows the feed until the connection breaks or `stop_` is set. Returns false if the server refuses that.
  bool listen(PostgresConnection& connection);
  // Calls `grew_` if the newest number of the feed has changed. Returns false if the number could not be read.
  bool look(PostgresConnection& connection);

  const PostgresOptions& options_;
  const std::function<void()> grew_;
  Reconnection connection_;
  UniqueFd stop_;
  std::atomic<bool> stopped_ = false;
  std::int64_t newest_ = 0;
  std::thread thread_;  // last: uses the other members
};

}  // namespace proteus::store
