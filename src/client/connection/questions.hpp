#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/task_group.hpp"
#include "client/connection/in_flight.hpp"
#include "client/message/handlers.hpp"
#include "client/message/options.hpp"
#include "client/message/received.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// Answers the requests that a server of the legacy era sends by itself. Belongs to one thread; the task group
// must have ended before it is destroyed.
class Questions {
 public:
  Questions(const Executor& executor, const Options& options, InFlightTable& requests, TaskGroup& tasks)
      : executor_(executor),
        options_(options),
        requests_(requests),
        tasks_(tasks),
        arrival_(executor),
        roots_settled_(executor) {}

  // The answer goes to the transport the request came from. A server that asks faster than it takes answers
  // is refused, and then ignored.
  void on_request(Received request, RequestId during, std::shared_ptr<Transport> transport);
  // The server no longer wants the answer; `id` as written.
  void on_cancelled(std::string_view id);

  // How to wait until the server has read what it was sent; set before anything is asked.
  void set_until_read(std::function<Task<>()> until_read) { until_read_ = std::move(until_read); }

  // A session has begun, or its roots have changed, and nothing was sent since that may act on them: what the server
  // asks about them now must be known first.
  void set_roots_due(bool due) { roots_due_ = due; }
  // Roots that were asked for outside of a request, and are not answered yet, though requests wait for that.
  std::size_t open_roots() const { return open_roots_; }
  // Ends when there are none.
  Task<> wait_for_roots();
  // Whether the server was left without an answer about roots that were due: it goes by what it knows itself.
  bool roots_missed() const { return roots_missed_; }
  void forget_roots() { roots_missed_ = false; }
  // There is a request now whose caller can be asked.
  void somebody_came() { arrival_.ring(); }

 private:
  // A question being answered; counted, and known by its id, while it lives.
  class Open;
  class Progress;

  Task<> answer(Received request, mcp::Method method, RequestId during, std::shared_ptr<Transport> transport,
                std::unique_ptr<Open> open);
  // Finds out whose question it is, and asks them.
  Task<Result<std::string>> ask_owner(Question question, Open& open);
  Task<Result<std::string>> ask_whoever_comes(Question question, Open& open);
  const InFlight* asked_by(mcp::Method method, RequestId during) const;
  // Of one that may be of any request of one caller: asks them in turn, as those end that it was not of.
  Task<Result<std::string>> ask_in_turn(Question question);
  bool is_of_any(mcp::Method method, RequestId during) const;
  bool is_stray_roots(mcp::Method method, RequestId during) const;
  Task<> refuse(std::string text, std::shared_ptr<Transport> transport, std::unique_ptr<Open> open);
  Task<> send(std::string text, std::shared_ptr<Transport> transport);

  Executor executor_;
  const Options& options_;
  InFlightTable& requests_;
  TaskGroup& tasks_;
  std::multimap<std::string, Deadline*, std::less<>> open_;
  std::multiset<RequestId> asked_in_turn_;
  Bell arrival_;
  Bell roots_settled_;
  std::size_t open_roots_ = 0;
  std::function<Task<>()> until_read_;
  bool roots_due_ = true;
  bool roots_missed_ = false;
};

}  // namespace proteus::client
