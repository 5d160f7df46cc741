#include "client/posted_request.hpp"

namespace proteus::client {
namespace {

Task<Result<Reply>> at_once(Result<Reply> reply) { co_return std::move(reply); }

// One that goes aside may be taken on any thread.
Reply apart(Reply reply) {
  if (reply.message) reply.message = reply.message->copy();
  return reply;
}

}  // namespace

PostedRequest::PostedRequest(Key /*key*/, Connection& connection, Footing footing, std::unique_ptr<Sent> sent,
                             RequestId id, mcp::Method method, RequestOptions options)
    : connection_(connection),
      visit_(connection),
      footing_(std::move(footing)),
      id_(id),
      method_(method),
      options_(std::move(options)),
      deadline_(connection.executor_, connection.time_of(method, options_),
                connection.time_of(method, options_) * connection.options_.progress_extension),
      entry_(std::in_place, connection.requests_, InFlight{id, &deadline_, &options_}),
      sent_(std::move(sent)) {
  deadline_.set_on_change([this] { on_deadline(); });
}

// Nobody waits for it but `rest`; and whatever moves it is more than an answer.
void PostedRequest::on_deadline() {
  more_ = true;
  if (answering_) sent_->stop_waiting();
}

void PostedRequest::cancel() {
  cancelled_ = true;
  if (answering_) sent_->stop_waiting();
}

Error PostedRequest::tell_cancelled() {
  connection_.cancel_at_server(footing_, id_, "the caller no longer waits");
  return errors::cancelled("the request");
}

Task<Result<std::optional<Answer>>> PostedRequest::answer() {
  while (!more_) {
    if (cancelled_) co_return std::unexpected(tell_cancelled());
    auto seen = sent_->look();
    if (more_) {
      if (!seen) reply_ = std::unexpected(std::move(seen.error()));
      if (seen && seen->reply) reply_ = apart(std::move(*seen->reply));
      break;
    }
    if (!seen) {
      if (seen.error().kind() != ErrorKind::timeout) co_return std::unexpected(std::move(seen.error()));
      connection_.cancel_at_server(footing_, id_, "timed out");
      co_return std::unexpected(errors::timeout(mcp::to_string(method_)));
    }
    if (seen->reply) {
      auto outcome = connection_.judge(footing_, std::move(*seen->reply));
      if ((again_ = outcome.again)) break;
      if (!outcome.answer) co_return std::unexpected(std::move(outcome.answer.error()));
      co_return std::move(*outcome.answer);
    }
    if (!seen->waits) break;
    answering_ = true;
    try {
      co_await sent_->wait();
    } catch (...) {
      (void)tell_cancelled();
      throw;
    }
    answering_ = false;
  }
  co_return std::nullopt;
}

Task<Result<Answer>> PostedRequest::rest(std::shared_ptr<PostedRequest> self, Params params) {
  Connection& connection = self->connection_;
  if (self->cancelled_) co_return std::unexpected(self->tell_cancelled());
  if (!self->again_) {
    self->deadline_.set_on_change(nullptr);
    auto replying = self->reply_ ? at_once(std::move(*self->reply_)) : self->sent_->rest();
    const InFlight in_flight{self->id_, &self->deadline_, &self->options_};
    auto outcome = co_await connection.await_reply(self->footing_, in_flight, self->method_, std::move(replying));
    if (!outcome.again) co_return std::move(outcome.answer);
  }
  self->entry_.reset();
  self->sent_.reset();
  co_return co_await connection.request(self->method_, std::move(params), self->options_, true);
}

}  // namespace proteus::client
