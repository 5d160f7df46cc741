#include "client/transport/posted_reply.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/message/received.hpp"
#include "client/transport/http_caller.hpp"

namespace proteus::client {
namespace {

Error wrong_type(const net::ClientResponse& response) {
  const std::string_view type = response.content_type();
  return errors::protocol(
      type.empty() ? fmt::format("the server answered a request with HTTP {} and nothing in it", response.status())
                   : fmt::format("the server answered with {}, which is neither JSON nor an event stream",
                                 log::printable(type, 64)));
}

}  // namespace

void PostedReply::begin() {
  state_ = State::other;
  if (authorizer_ != nullptr) report_accepted(*authorizer_, response_);
  if (!is_success(response_)) return;
  if (response_.has_content_type("application/json")) {
    state_ = State::json;
  } else if (response_.has_content_type("text/event-stream")) {
    state_ = State::events;
    events_.emplace(std::move(response_), transport_.options().limits.message_bytes);
  }
}

Result<PendingReply::Poll> PostedReply::poll() {
  if (state_ == State::sent) {
    const auto here = response_.try_read_head();
    if (!here) return std::unexpected(here.error());
    if (!*here) return Poll{.waits = true};
    begin();
  }
  if (state_ == State::json) return poll_json();
  if (state_ == State::other) return Poll{};
  if (!aside_.text.empty()) return Poll{};
  auto polled = transport_.poll(*events_, id_, stay_ == Stay::here ? shared_from_this() : nullptr, aside_);
  // `finish` may resume an interrupted stream.
  if (!polled && polled.error().kind() == ErrorKind::interrupted) return Poll{};
  return polled;
}

Result<PendingReply::Poll> PostedReply::poll_json() {
  const std::size_t most = transport_.options().limits.message_bytes;
  const auto body = response_.try_read_all(most);
  if (!body) return std::unexpected(naming_limit(body.error(), most));
  if (!*body) return Poll{.waits = true};
  if (is_for_background((*body)->size(), transport_.options().background)) return Poll{};
  const auto& limits = transport_.scan_limits();
  auto message = stay_ == Stay::here ? Received::scan(**body, shared_from_this(), limits)
                                     : Received::scan(std::string(**body), limits);
  if (!message) {
    if (auto lines = scan_lines(**body, limits, id_)) return Poll{.reply = transport_.take_all(std::move(*lines), id_)};
  }
  auto reply = judge(std::move(message));
  if (!reply) return std::unexpected(std::move(reply.error()));
  return Poll{.reply = std::move(*reply)};
}

Task<Result<Reply>> PostedReply::finish() {
  // Other threads may use the reply from now on, so it must not share memory that belongs to this thread.
  stay_ = Stay::anywhere;
  set_deadline({});
  for (;;) {
    auto polled = poll();
    if (!polled) co_return std::unexpected(std::move(polled.error()));
    if (polled->reply) co_return std::move(*polled->reply);
    if (polled->waits) {
      (void)co_await wait();
    } else if (!aside_.text.empty()) {
      auto reply = co_await transport_.take_aside(std::exchange(aside_, {}), id_);
      if (!reply) co_return std::unexpected(std::move(reply.error()));
      if (*reply) co_return std::move(**reply);
    } else {
      break;
    }
  }
  if (state_ == State::json) co_return co_await read_aside();
  if (events_) co_return co_await transport_.resume(events_, id_);
  if (!is_success(response_)) {
    auto refusal = co_await read_refusal(response_);
    if (refusal) refusal->sent = std::move(sent_);
    co_return refusal;
  }
  co_return std::unexpected(wrong_type(response_));
}

Task<Result<Reply>> PostedReply::read_aside() {
  const auto body = response_.try_read_all(transport_.options().limits.message_bytes);
  if (!body) co_return std::unexpected(body.error());
  auto& background = *transport_.options().background;
  const OwnedText text{body->value_or(std::string_view()), background.ending_here(response_.take_memory())};
  auto message = co_await scan_aside(background, text, transport_.scan_limits());
  if (!message) {
    auto lines = co_await background.run(
        [text, limits = transport_.scan_limits(), id = id_] { return scan_lines(text.text, limits, id); });
    auto reply = lines ? transport_.take_all(std::move(*lines), id_) : std::nullopt;
    if (reply) co_return std::move(*reply);
  }
  co_return judge(std::move(message));
}

Result<Reply> PostedReply::judge(Result<Received> message) const {
  if (!message) return std::unexpected(std::move(message.error()));
  if (role_of(message->message(), id_) != Role::answer) {
    return std::unexpected(
        errors::protocol(fmt::format("the server answered with a message that is no answer to the request: {}",
                                     log::printable(message->text(), 80))));
  }
  return Reply{static_cast<int>(response_.status()), std::move(*message), {}};
}

}  // namespace proteus::client
