#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/secrets/process_key.hpp"
#include "base/tasks/task_group.hpp"
#include "redis/client.hpp"
#include "server/core/session.hpp"

namespace proteus::live {

// Keeps the records of this process's sessions in Redis as long as the sessions live, even if Redis is emptied, and
// ends sessions that another process has taken over. A mark in Redis, which is lost if everything else there is lost,
// says that the records are kept. Belongs to the thread of the io_context; `stop` must complete before it is destroyed.
class SessionUpkeep {
 public:
  struct Options {
    // How often it checks all sessions. Well below the expiry of a record.
    std::chrono::milliseconds every = std::chrono::minutes(1);
    // The same while other processes may count this one as dead, and take its sessions.
    std::chrono::milliseconds when_in_doubt{1'000};
    // How often it checks its mark.
    std::chrono::milliseconds tick{500};
    // Expiry of the mark. As long as that of the records, or a Redis that runs full would evict the mark before them.
    std::chrono::milliseconds expiry = std::chrono::minutes(30);
    std::function<bool()> is_in_doubt = [] { return false; };
    // Removes the records of sessions that ended while Redis was away. Returns false if Redis does not answer.
    std::function<Task<bool>()> remove_again = []() -> Task<bool> { co_return true; };
  };
  // All references must outlive this object.
  SessionUpkeep(boost::asio::io_context& io, server::Sessions& sessions, redis::Client& client, const ProcessKey& self,
                Options options);

  // Thread-safe.
  void start();
  Task<> stop();

  // Checks and writes the records of all sessions once. Returns false if Redis did not answer.
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
