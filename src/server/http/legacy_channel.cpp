#include "server/http/legacy_channel.hpp"

#include "server/http/http_answer.hpp"

namespace proteus::server {

void LegacyChannel::send(std::string message) {
  join_lines(message);
  stream().push(message);
}

Task<> LegacyChannel::finish(std::string message) {
  send(std::move(message));
  co_await close();
}

Task<> LegacyChannel::close() {
  stream_->finish();
  co_await group_->join();
}

ReplayStream& LegacyChannel::stream() {
  if (!stream_) {
    stream_ = session_.new_stream(requests_);
    auto outbox = std::make_shared<Outbox>(executor_);
    stream_->begin(outbox, primes(session_));
    exchange_.on_disconnect([outbox] { outbox->close(); });
    group_.emplace(executor_);
    group_->spawn("answer stream", pump(exchange_, stream_, std::move(outbox), keep_alive_));
  }
  return *stream_;
}

Task<> LegacyChannel::pump(net::Exchange& exchange, std::shared_ptr<ReplayStream> stream,
                           std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive) {
  const bool whole = co_await stream_events(exchange, std::move(outbox), keep_alive);
  if (stream->finished()) co_return;
  // A call that continues without its connection still occupies the connection, which must not look usable for other
  // requests.
  if (!whole) co_return exchange.close();
  exchange.on_disconnect([&exchange] { exchange.close(); });
  exchange.end_connection();
}

}  // namespace proteus::server
