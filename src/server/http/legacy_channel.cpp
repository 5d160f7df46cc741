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
  co_await stream_events(exchange, std::move(outbox), keep_alive);
  // A call that goes on without this connection must not let it seem usable for others meanwhile. After a whole answer
  // it is usable: the client was told so, and cutting it off could destroy what is still on its way.
  if (!stream->finished()) exchange.close();
}

}  // namespace proteus::server
