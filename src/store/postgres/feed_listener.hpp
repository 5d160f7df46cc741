#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/unique_fd.hpp"
#include "store/postgres/reconnection.hpp"

namespace proteus::store {

// Tells when the feed has grown: by notifications, and by looking at intervals, because a notification is lost when a
// connection breaks.
class FeedListener {
 public:
  // `grew` is called on the listener's thread. The options outlive it.
  FeedListener(const PostgresOptions& options, std::function<void()> grew);
  ~FeedListener();
  FeedListener(const FeedListener&) = delete;
  FeedListener& operator=(const FeedListener&) = delete;

 private:
  void run();
  void listen(PostgresConnection& connection);
  // False where nothing could be read.
  bool look(PostgresConnection& connection);

  const PostgresOptions& options_;
  const std::function<void()> grew_;
  Reconnection connection_;
  UniqueFd stop_;
  std::atomic<bool> stopped_ = false;
  std::int64_t newest_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace proteus::store
