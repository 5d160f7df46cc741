#include "client/transport/channel.hpp"

#include <algorithm>

#include "base/log/log.hpp"
#include "json/text.hpp"

namespace proteus::client {

// Registers a request that waits for its answer, until the exchange ends in any way.
class Channel::Registration {
 public:
  Registration(Channel& channel, const Outgoing& request) : channel_(channel), id_(request.id) {
    channel_.waiters_.try_emplace(id_, channel.executor_, request.method);
    channel_.last_id_ = std::max(channel_.last_id_, id_);
  }
  ~Registration() {
    if (!answered_) ++channel_.given_up_;
    channel_.waiters_.erase(id_);
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  Waiter& waiter() { return channel_.waiters_.at(id_); }
  void answered() { answered_ = true; }

 private:
  Channel& channel_;
  RequestId id_;
  bool answered_ = false;
};

Channel::Channel(const Executor& executor, Inbox& inbox, std::shared_ptr<StrangerLog> log)
    : executor_(executor), inbox_(inbox), log_(std::move(log)), end_(executor) {}

Task<Result<Reply>> Channel::exchange(const Outgoing& request) {
  if (closed_) co_return std::unexpected(errors::unreachable(closed_->message()));
  Registration registration(*this, request);
  auto written = co_await write(request);
  Waiter& waiter = registration.waiter();
  // A server may answer on its stream before the sending is over, and even if the sending fails.
  if (!written && !waiter.answer) co_return std::unexpected(std::move(written.error()));
  while (!waiter.answer) {
    if (closed_) co_return std::unexpected(*closed_);
    co_await waiter.bell.wait();
  }
  registration.answered();
  Reply reply;
  reply.message = std::move(waiter.answer);
  co_return reply;
}

Task<Result<>> Channel::listen(std::function<void()> on_open) {
  if (!closed_) on_open();
  while (!closed_)
    co_await end_.wait();
  co_return std::unexpected(*closed_);
}

Task<> Channel::take_aside(BackgroundThreads& background, OwnedText bytes, json::ScanLimits limits) {
  take(co_await scan_messages_aside(background, std::move(bytes), limits, version_));
}

void Channel::take(Result<std::vector<Received>> messages) {
  if (!messages) return log_->warning("ignored: {}", messages.error().message());
  for (auto& message : *messages)
    dispatch(std::move(message));
}

void Channel::dispatch(Received message) {
  switch (message.message().kind) {
    case json::MessageKind::notification: return inbox_.on_notification(message, kNoRequest);
    case json::MessageKind::request: return inbox_.on_request(std::move(message), kNoRequest);
    case json::MessageKind::result:
    case json::MessageKind::error:
    case json::MessageKind::invalid: return answer(std::move(message));
  }
}

void Channel::answer(Received message) {
  const auto id = json::as_int64(message.message().id);
  auto waiter = id ? waiters_.find(*id) : waiters_.end();
  const bool has_no_id = message.message().id.empty() && !message.message().error.empty();
  if (has_no_id) waiter = nameless();
  if (waiter == waiters_.end() || waiter->second.answer) {
    // A request that was given up may still be answered.
    const bool late = (id && *id <= last_id_) || (has_no_id && given_up_ > 0);
    if (late && given_up_ > 0) --given_up_;
    if (late) return log_->debug("a late answer is ignored");
    return log_->warning("an answer to no request is ignored; its id is {}", log::printable(message.message().id, 64));
  }
  waiter->second.answer = std::move(message);
  waiter->second.bell.ring();
}

std::map<RequestId, Channel::Waiter>::iterator Channel::nameless() {
  // The error can only mean the one request that waits, or the era probe, which comes first and may be what the server
  // does not understand.
  const bool certain =
      waiters_.size() == 1 || (!waiters_.empty() && waiters_.begin()->second.method == mcp::Method::discover);
  return certain ? waiters_.begin() : waiters_.end();
}

void Channel::fail(const Error& error) {
  if (closed_) return;
  closed_ = error;
  for (auto& [id, waiter] : waiters_)
    waiter.bell.ring();
  end_.ring();
}

}  // namespace proteus::client
