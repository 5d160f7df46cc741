#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/process_key.hpp"
#include "base/task_group.hpp"
#include "redis/client.hpp"
#include "server/core/session.hpp"

namespace proteus::live {

// Sees to it that the records of this process's sessions last as long as the sessions, also in a Redis that was
// emptied, and ends sessions that another process has taken over. A mark of its own in Redis, which goes with
// everything else there, says that the records are kept. Belongs to the thread of the context; `stop` must have ended
// before it is destroyed.
class SessionUpkeep {
 public:
  struct Options {
    // Well within the expiry of a record.
    std::chrono::milliseconds every = std::chrono::minutes(1);
    // How often it looks while others may take sessions of this process, because they take it for dead.
    std::chrono::milliseconds when_in_doubt{1'000};
    // How often it looks for its mark.
    std::chrono::milliseconds tick{500};
    // Of the mark. As long as that of records, or a Redis that runs full would give up the mark before them.
    std::chrono::milliseconds expiry = std::chrono::minutes(30);
    std::function<bool()> is_in_doubt = [] { return false; };
  };
  // Everything given outlives it.
  SessionUpkeep(boost::asio::io_context& io, server::Sessions& sessions, redis::Client& client, const ProcessKey& self,
                Options options);

  // Thread-safe.
  void start();
  Task<> stop();

  // Looks after all sessions once; false where Redis did not answer.
  Task<bool> look();

 private:
  Task<> run();
  Task<bool> has_lost_its_mark();
  Task<bool> mark(std::string_view text, std::string_view condition);

  boost::asio::io_context& io_;
  server::Sessions& sessions_;
  redis::Client& client_;
  const std::string mark_;
  const Options options_;
  const std::string expiry_;
  TaskGroup tasks_;
  bool stopped_ = false;
};

}  // namespace proteus::live
