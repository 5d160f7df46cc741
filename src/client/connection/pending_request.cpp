#include "client/connection/pending_request.hpp"

#include "mcp/errors.hpp"

namespace proteus::client {
namespace {

Task<Result<Reply>> at_once(Result<Reply> reply) { co_return std::move(reply); }

// Copies the message, because the reply may move to another thread.
Reply apart(Reply reply) {
  if (reply.message) reply.message = reply.message->copy();
  return reply;
}

}  // namespace

PendingRequest::PendingRequest(Key /*key*/, Connection& connection, Negotiated negotiated,
                               std::shared_ptr<PendingReply> reply, RequestId id, mcp::Method method,
                               RequestOptions options)
    : connection_(connection),
      visit_(connection),
      negotiated_(std::move(negotiated)),
      method_(method),
      options_(std::move(options)),
      deadline_(connection.executor_, connection.time_of(method, options_),
                connection.time_of(method, options_) * connection.options_.progress_extension),
      entry_(std::in_place, connection.requests_, InFlight{id, deadline_, options_}),
      reply_(std::move(reply)) {
  deadline_.set_on_change([this] { on_deadline(); });
}

PendingRequest::~PendingRequest() { leave(); }

void PendingRequest::leave() {
  if (std::exchange(ended_, true)) return;
  connection_.cancel_at_server(negotiated_, entry_->request().id, "the caller no longer waits");
}

// Progress extends the deadline. If the deadline is held or has expired instead, polling cannot complete the request.
void PendingRequest::on_deadline() {
  if (const auto left = deadline_.left()) {
    if (!reply_->is_all_here()) reply_->set_deadline(std::chrono::ceil<std::chrono::milliseconds>(*left));
    return;
  }
  more_ = true;
  if (waiting_) reply_->stop_waiting();
}

void PendingRequest::cancel() {
  cancelled_ = true;
  if (waiting_) reply_->stop_waiting();
}

Task<net::Waited> PendingRequest::wait() {
  waiting_ = true;
  return reply_->wait();
}

Error PendingRequest::end(Error error) {
  ended_ = true;
  if (error.kind() != ErrorKind::timeout) return error;
  connection_.cancel_at_server(negotiated_, entry_->request().id, "timed out");
  return errors::timeout(mcp::to_string(method_));
}

// A modern server that misses headers has not run the request; the retry finds out which headers it wants.
bool PendingRequest::is_to_be_sent_again(const Connection::Outcome& outcome) {
  if (outcome.misfits) before_ = Connection::Before::misfitted;
  return outcome.again || outcome.misfits;
}

Result<PendingRequest::Poll> PendingRequest::poll() {
  waiting_ = false;
  if (cancelled_) {
    leave();
    return std::unexpected(errors::cancelled("the request"));
  }
  if (more_) return Poll{};
  auto polled = reply_->poll();
  if (more_) {
    if (!polled) arrived_ = std::unexpected(std::move(polled.error()));
    if (polled && polled->reply) arrived_ = apart(std::move(*polled->reply));
    return Poll{};
  }
  if (!polled) return std::unexpected(end(std::move(polled.error())));
  if (!polled->reply) {
    more_ = !polled->waits;
    return Poll{.waits = polled->waits};
  }
  ended_ = true;
  auto outcome = connection_.judge(negotiated_, method_, std::move(*polled->reply));
  if ((again_ = more_ = is_to_be_sent_again(outcome))) return Poll{};
  if (!outcome.answer) return std::unexpected(std::move(outcome.answer.error()));
  return Poll{.answer = std::move(*outcome.answer)};
}

Task<Result<bool>> PendingRequest::heed(const Reply& refusal) {
  Authorizer* const authorizer =
      options_.authorizer ? options_.authorizer.get() : connection_.options_.authorizer.get();
  if (authorizer == nullptr || options_.refused_before >= Authorizer::kMaxAgain) co_return false;
  ++options_.refused_before;
  co_return co_await authorizer->refused({.status = refusal.status,
                                          .challenge = refusal.challenge,
                                          .dpop_nonce = refusal.dpop_nonce,
                                          .sent = refusal.sent->headers()});
}

Task<Result<Answer>> PendingRequest::finish(std::shared_ptr<PendingRequest> self, Params params) {
  Connection& connection = self->connection_;
  auto polled = self->poll();
  for (; polled && polled->waits; polled = self->poll())
    (void)co_await self->wait();
  if (!polled) co_return std::unexpected(std::move(polled.error()));
  if (polled->answer) co_return std::move(*polled->answer);
  if (!self->again_) {
    self->deadline_.set_on_change(nullptr);
    self->ended_ = true;
    auto replying = self->arrived_ ? at_once(std::move(*self->arrived_)) : self->reply_->finish();
    auto outcome =
        co_await connection.await_reply(self->negotiated_, self->entry_->request(), self->method_, std::move(replying));
    if (outcome.refusal) {
      const auto better = co_await self->heed(*outcome.refusal);
      if (!better) co_return std::unexpected(better.error());
      if (!*better) co_return std::move(outcome.answer);
    } else if (!self->is_to_be_sent_again(outcome)) {
      co_return std::move(outcome.answer);
    }
  }
  self->entry_.reset();
  self->reply_.reset();
  co_return co_await connection.request(self->method_, std::move(params), self->options_, self->before_);
}

}  // namespace proteus::client
