#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/stranger_log.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "client/message/received.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// A transport that receives all messages on one stream and matches answers to requests by their ids. The stream is the
// standard output of a program, or the event stream of HTTP+SSE.
class Channel : public Transport {
 public:
  Task<Result<Reply>> exchange(const Outgoing& request) final;
  Task<Result<>> send(const Outgoing& message) final { return write(message); }
  bool usable() const final { return !closed_; }
  void speak(mcp::Version version) final { version_ = version; }
  // Opens nothing, so it calls `on_open` at once. Returns when the channel fails or is closed.
  Task<Result<>> listen(std::function<void()> on_open) final;
  bool has_streams() const final { return false; }

 protected:
  Channel(const Executor& executor, Inbox& inbox, std::shared_ptr<StrangerLog> log);

  virtual Task<Result<>> write(const Outgoing& message) = 0;

  // Handles bytes that were read from the stream. Anything that is not a message is logged and ignored.
  void take(std::string_view bytes, const json::ScanLimits& limits) { take(scan_messages(bytes, limits, version_)); }
  // Like `take`, but parses in the background. The caller must await this before it takes more from the stream.
  Task<> take_aside(BackgroundThreads& background, OwnedText bytes, json::ScanLimits limits);
  // Ends the channel: every exchange under way fails with this error.
  void fail(const Error& error);

  const Executor& executor() const { return executor_; }
  const std::optional<mcp::Version>& version() const { return version_; }

 private:
  struct Waiter {
    Waiter(const Executor& executor, mcp::Method asked) : method(asked), bell(executor) {}
    mcp::Method method;
    std::optional<Received> answer;
    Bell bell;
  };
  class Registration;

  void take(Result<std::vector<Received>> messages);
  void dispatch(Received message);
  void answer(Received message);
  // Returns the waiter for an error without an id, which a server sends if it cannot read the id; `end` if uncertain.
  std::map<RequestId, Waiter>::iterator nameless();

  Executor executor_;
  Inbox& inbox_;
  const std::shared_ptr<StrangerLog> log_;
  Bell end_;
  std::map<RequestId, Waiter> waiters_;
  RequestId last_id_ = kNoRequest;  // the highest id that was sent
  std::size_t given_up_ = 0;        // requests that were given up and whose answers have not arrived
  std::optional<Error> closed_;
  std::optional<mcp::Version> version_;
};

}  // namespace proteus::client
