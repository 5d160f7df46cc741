#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/tasks/task_group.hpp"
#include "net/http_server/http_server.hpp"
#include "server/core/call.hpp"
#include "server/core/session.hpp"

namespace proteus::server {

// Clients of 2025-11-25 understand an event without data, before the answer to a POST, as permission to resume
// (SEP-1699). Older clients fail on such an event.
inline ReplayStream::Prime primes(const Session& session) {
  return session.hello().version >= mcp::Version::v2025_11_25 ? ReplayStream::Prime::yes : ReplayStream::Prime::no;
}

// The channel of a legacy POST. The answer is a JSON object, or an event stream if messages are sent before it. The
// stream outlives the client's connection: the session keeps it, so that the client can fetch the rest.
class LegacyChannel final : public CallChannel {
 public:
  // `requests` are the ids of the requests that are answered; see Session::new_stream.
  LegacyChannel(net::Exchange& exchange, const Executor& executor, Session& session,
                std::shared_ptr<Cancellation> cancellation, std::chrono::milliseconds keep_alive, std::string requests)
      : exchange_(exchange),
        executor_(executor),
        session_(session),
        cancellation_(std::move(cancellation)),
        keep_alive_(keep_alive),
        requests_(std::move(requests)) {}

  void send(std::string message) override;
  void release(std::chrono::milliseconds retry) override { stream().detach(retry); }
  Cancellation& cancellation() override { return *cancellation_; }

  // Sets the cancellation of the next request of a batch.
  void set_cancellation(std::shared_ptr<Cancellation> cancellation) { cancellation_ = std::move(cancellation); }

  bool streaming() const { return stream_ != nullptr; }
  // End the stream. If `streaming`, one of them must be awaited before the channel is destroyed.
  Task<> close();
  Task<> finish(std::string message);

 private:
  ReplayStream& stream();
  static Task<> pump(net::Exchange& exchange, std::shared_ptr<ReplayStream> stream, std::shared_ptr<Outbox> outbox,
                     std::chrono::milliseconds keep_alive);

  net::Exchange& exchange_;
  Executor executor_;
  Session& session_;
  std::shared_ptr<Cancellation> cancellation_;
  std::chrono::milliseconds keep_alive_;
  const std::string requests_;
  std::shared_ptr<ReplayStream> stream_;
  std::optional<TaskGroup> group_;
};

}  // namespace proteus::server
