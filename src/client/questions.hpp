#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/task_group.hpp"
#include "client/in_flight.hpp"
#include "client/options.hpp"
#include "client/received.hpp"
#include "client/transport.hpp"

namespace proteus::client {

// Answers the requests that a server of the legacy era sends by itself. Belongs to one thread; the task group
// must have ended before it is destroyed.
class Questions {
 public:
  Questions(const Executor& executor, const Options& options, InFlightTable& requests, TaskGroup& tasks)
      : executor_(executor), options_(options), requests_(requests), tasks_(tasks) {}

  // The answer goes to the transport the request came from. A server that asks faster than it takes answers
  // is refused, and then ignored.
  void on_request(Received request, RequestId during, std::shared_ptr<Transport> transport);
  // The server no longer wants the answer; `id` as written.
  void on_cancelled(std::string_view id);

 private:
  // A question being answered; counted, and known by its id, while it lives.
  class Open;

  Task<> answer(Received request, mcp::Method method, RequestId during, std::shared_ptr<Transport> transport,
                std::unique_ptr<Open> open);
  Task<> refuse(std::string text, std::shared_ptr<Transport> transport, std::unique_ptr<Open> open);
  Task<> send(std::string text, std::shared_ptr<Transport> transport);

  Executor executor_;
  const Options& options_;
  InFlightTable& requests_;
  TaskGroup& tasks_;
  std::multimap<std::string, Deadline*, std::less<>> open_;
};

}  // namespace proteus::client
