#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/tasks/task_group.hpp"
#include "client/connection/in_flight.hpp"
#include "client/message/handlers.hpp"
#include "client/message/options.hpp"
#include "client/message/received.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// Answers a legacy server's questions: the requests that it sends to us. Belongs to one thread. The tasks of the task
// group must have ended before it is destroyed.
class Questions {
 public:
  Questions(const Executor& executor, const Options& options, InFlightTable& requests, TaskGroup& tasks)
      : executor_(executor),
        options_(options),
        requests_(requests),
        tasks_(tasks),
        arrival_(executor),
        roots_settled_(executor) {}

  // Answers a question over the transport it came from. If the server asks faster than it takes answers, its questions
  // are first refused and then ignored.
  void on_request(Received request, RequestId during, std::shared_ptr<Transport> transport);
  // Called when the server cancels a question; `id` is the JSON text as written.
  void on_cancelled(std::string_view id);

  // Sets the function that waits until the server has read all that was sent to it. Must be set before the first
  // question.
  void set_until_read(std::function<Task<>()> until_read) { until_read_ = std::move(until_read); }

  // Set to true when a session begins or roots change, and to false when a request is sent that may act on roots. While
  // it is true, a question for roots must be answered before such a request is sent.
  void set_roots_due(bool due) { roots_due_ = due; }
  // Returns the number of open questions for roots that requests wait for.
  std::size_t open_roots() const { return open_roots_; }
  // Waits until there are no such questions.
  Task<> wait_for_roots();
  // Returns whether a due question for roots ended without an answer, so that the server uses directories of its own
  // choice.
  bool roots_missed() const { return roots_missed_; }
  void forget_roots() { roots_missed_ = false; }
  // Called when there is a new request whose caller can be asked.
  void somebody_came() { arrival_.ring(); }

 private:
  // A question that is being answered. While it lives, it counts against the limit and can be found by its id.
  class Open;
  class Progress;

  Task<> answer(Received request, mcp::Method method, RequestId during, std::shared_ptr<Transport> transport,
                std::unique_ptr<Open> open);
  // Finds the caller that the question is for, and asks it.
  Task<Result<std::string>> ask_owner(Question question, Open& open);
  Task<Result<std::string>> ask_whoever_comes(Question question, Open& open);
  const InFlight* asked_by(mcp::Method method, RequestId during) const;
  // Asks about a question that may belong to any request of one caller. Asks one request after the other, whenever the
  // previous one ends without an answer.
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
