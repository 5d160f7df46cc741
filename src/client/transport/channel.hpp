#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stranger_log.hpp"
#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "client/message/received.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// A transport whose messages all come on one stream, and are told apart by their ids: standard output of a
// program, or the event stream of HTTP+SSE.
class Channel : public Transport {
 public:
  Task<Result<Reply>> exchange(const Outgoing& request) final;
  Task<Result<>> send(const Outgoing& message) final { return write(message); }
  bool usable() const final { return !closed_; }
  void speak(mcp::Version version) final { version_ = version; }
  // There is nothing to open: ends when the channel does.
  Task<Result<>> listen(std::function<void()> on_open) final;
  bool has_streams() const final { return false; }

 protected:
  Channel(const Executor& executor, Inbox& inbox, std::shared_ptr<StrangerLog> log);

  virtual Task<Result<>> write(const Outgoing& message) = 0;

  // What was read from the stream. What is no message is logged and ignored.
  void take(std::string_view bytes, const json::ScanLimits& limits) { take(scan_messages(bytes, limits, version_)); }
  // The same in the background. What follows on the stream has to wait for it.
  Task<> take_aside(BackgroundThreads& background, OwnedText bytes, json::ScanLimits limits);
  // Nothing more will come: every exchange under way fails with this.
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
  // Whom an error is for whose id the server could not read.
  std::map<RequestId, Waiter>::iterator nameless();

  Executor executor_;
  Inbox& inbox_;
  const std::shared_ptr<StrangerLog> log_;
  Bell end_;
  std::map<RequestId, Waiter> waiters_;
  RequestId last_id_ = kNoRequest;  // of all that were sent
  std::size_t given_up_ = 0;        // of those, whose answers nobody waits for and have not come
  std::optional<Error> closed_;
  std::optional<mcp::Version> version_;
};

}  // namespace proteus::client
