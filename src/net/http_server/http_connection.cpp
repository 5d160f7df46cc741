#include "net/http_server/http_connection.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <sys/socket.h>

#include "base/log/log.hpp"
#include "net/io/completion.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;
using Phase = RequestReader::Phase;
using Step = RequestReader::Step;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// How many bytes a client may send after its last response. They are read and dropped, because closing at once would
// cause a reset, which may destroy the response.
constexpr std::size_t kLingerBytes = 4UL * 1024 * 1024;

template <class Function>
class OnExit {
 public:
  explicit OnExit(Function function) : function_(std::move(function)) {}
  ~OnExit() { function_(); }
  OnExit(const OnExit&) = delete;
  OnExit& operator=(const OnExit&) = delete;

 private:
  Function function_;
};

std::string describe(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

void HttpDependencies::report(const Refusal& refusal, const Peer& peer) const {
  if (refusals == nullptr) return;
  constexpr std::array kLimits = {408U, 413U, 431U, 503U};
  const bool limit = std::ranges::find(kLimits, refusal.status) != kLimits.end();
  refusals->add(
      {.reason = limit ? RefusalReason::limit : RefusalReason::malformed, .why = refusal.detail, .peer = peer.address});
}

Connection::Connection(HttpDependencies& dependencies, Stream stream)
    : dependencies_(dependencies), stream_(std::move(stream)), reader_(dependencies.limits, dependencies.memory) {
  reader_.request().peer_ = &stream_.peer();
  reader_.request().proxies_ = dependencies.proxies;
  reader_.request().tls_ = stream_.is_tls();
}

Task<> Connection::run() {
  const OnExit close([this] { stream_.close(); });
  if (stream_.is_tls() && !co_await shake_hands()) co_return;
  if (may_close_idle()) co_return;
  // The first request has less time than later ones: a client that connects is about to send a request.
  deadline_ = deadline_after(dependencies_.limits.head_time);
  while (co_await read_request()) {
    is_used_ = true;
    co_await serve_request();
    if (broken_) co_return;
    if (!keep_alive_ || dependencies_.closes_idle) break;
    reader_.finish();
    expecting_ = Phase::idle;
    deadline_ = deadline_after(dependencies_.limits.keep_alive);
  }
  if (!broken_) co_await linger();
}

Task<bool> Connection::shake_hands() {
  doing_ = Doing::shaking_hands;
  deadline_ = deadline_after(dependencies_.limits.handshake_time);
  const Result<> done = co_await stream_.handshake();
  if (!done) log::debug("{}: {}", stream_.peer().address, done.error().message());
  co_return done.has_value();
}

Task<bool> Connection::read_request() {
  doing_ = Doing::reading;
  const OnExit arrived([this] { set_arriving(false); });
  bool more_is_there = false;
  while (true) {
    switch (reader_.advance()) {
      case Step::head:
      case Step::ready: deadline_ = kNever; co_return true;
      case Step::refused:
        dependencies_.report(reader_.refusal(), stream_.peer());
        co_await refuse(reader_.refusal());
        co_return false;
      case Step::expects_continue:
        out_.assign(1, kContinue);
        if (!try_flush() && !co_await flush()) co_return false;
        doing_ = Doing::reading;
        break;
      case Step::need_bytes: break;
    }
    expect_bytes();
    set_arriving(reader_.is_strangers());
    if (!more_is_there) {
      if (auto [error] = co_await wait_readable(); error || broken_) {
        broken_ = true;
        co_return false;
      }
    }
    // What another worker's requests hold cannot be taken from here.
    while (expecting_ != Phase::body && !reader_.make_room() && displace_oldest())
      continue;
    const std::span<char> space = reader_.space();
    if (space.empty()) continue;  // no memory: `advance` reports that
    const auto [error, size] = stream_.try_read(space);
    if (error && error != asio::error::would_block) {
      broken_ = true;
      co_return false;
    }
    reader_.commit(size);
    body_.bytes += size;
    more_is_there = size == space.size();
  }
}

Task<> Connection::serve_request() {
  doing_ = Doing::handling;
  Exchange exchange(*this);
  exchange_ = &exchange;
  const OnExit forget([this] { exchange_ = nullptr; });
  std::exception_ptr failure;
  try {
    if (Task<> rest = dependencies_.handler(exchange); rest.valid()) co_await std::move(rest);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
    if (cancelled != asio::cancellation_type::none) std::rethrow_exception(failure);
    log::error("handling {} {}: {}", log::printable(reader_.request().method()),
               log::printable(reader_.request().path()), describe(failure));
  } else if (!exchange.answered() && exchange.left_) {
    broken_ = true;  // the client is gone
  } else if (!exchange.answered()) {
    log::error("{} {} was not answered", log::printable(reader_.request().method()),
               log::printable(reader_.request().path()));
  }
  if (broken_ || exchange.state_ == Exchange::State::done) co_return;
  if (exchange.state_ == Exchange::State::open) {
    keep_alive_ = false;
    co_await refuse({500, "the request could not be handled"});
  } else if (failure) {
    broken_ = true;
  } else {
    co_await exchange.end_stream();
  }
}

std::string Connection::answer_of(const Refusal& refusal) const {
  std::string fields = dependencies_.date_line;
  if (exchange_ != nullptr) fields += exchange_->fields_;
  return refusal_answer(refusal, fields, reader_.request().method() != "HEAD");
}

Task<> Connection::refuse(const Refusal& refusal) {
  head_ = answer_of(refusal);
  out_.assign(1, head_);
  if (!try_flush()) co_await flush();
}

Task<> Connection::linger() {
  doing_ = Doing::lingering;
  reader_.end();
  deadline_ = deadline_after(dependencies_.limits.linger);
  stream_.shutdown();
  std::array<char, 4096> ignored;
  for (std::size_t total = 0; total < kLingerBytes;) {
    if (auto [error] = co_await wait_readable(); error) co_return;
    const auto [error, size] = stream_.try_read(ignored);
    if (error && error != asio::error::would_block) co_return;
    total += size;
  }
}

Task<Waited> Connection::wait_readable() {
  if (!watching_) return stream_.wait_readable();
  return asio::async_initiate<decltype(kAwaited), void(ErrorCode)>(
      [this](auto handler) {
        reader_waits_ = [handler = std::move(handler)](ErrorCode error) mutable { std::move(handler)(error); };
      },
      kAwaited);
}

void Connection::watch() {
  if (watching_) return;
  watching_ = true;
  stream_.on_readable([self = shared_from_this()](ErrorCode error) { self->on_readable(error); });
}

void Connection::on_readable(ErrorCode error) {
  watching_ = false;
  if (reader_waits_) return std::exchange(reader_waits_, nullptr)(error);
  if (exchange_ == nullptr) return;
  if (!error) {
    // Requests sent ahead are read into the buffer. If it is full, or if a body has not been read, the client is not
    // watched any more.
    if (!reader_.is_ready()) return;
    const std::span<char> space = reader_.spare();
    if (space.empty()) return;
    const IoResult got = stream_.try_read(space);
    reader_.commit(got.size);
    if (!got.error || got.error == asio::error::would_block) return watch();
  }
  call_gone();
}

void Connection::call_gone() {
  if (exchange_ == nullptr) return;
  exchange_->left_ = true;
  if (exchange_->gone_) std::exchange(exchange_->gone_, nullptr)();
}

bool Connection::try_flush() {
  if (broken_) return false;
  const auto [error, size] = stream_.try_write(out_);
  if (!error) return true;
  drop_front(out_, size);
  broken_ = error != asio::error::would_block;
  return false;
}

Task<bool> Connection::flush() {
  Progress progress{dependencies_.now, 0};
  doing_ = Doing::writing;
  while (!broken_ && !out_.empty()) {
    deadline_ = deadline_for(progress, dependencies_.limits.write_stall);
    auto [error] = co_await stream_.wait_writable();
    if (!error) {
      const IoResult sent = stream_.try_write(out_);
      progress.bytes += sent.size;
      drop_front(out_, sent.size);
      if (sent.error != asio::error::would_block) error = sent.error;
    }
    if (error) broken_ = true;
  }
  doing_ = Doing::handling;
  deadline_ = kNever;
  co_return !broken_;
}

void Connection::expect_bytes() {
  const Phase phase = reader_.phase();
  if (phase == Phase::body) {
    if (expecting_ != Phase::body) body_ = {dependencies_.now, 0};
    deadline_ = deadline_for(body_, dependencies_.limits.body_idle);
  } else if (phase != expecting_) {
    deadline_ = deadline_after(dependencies_.limits.head_time);
  }
  expecting_ = phase;
}

Clock::Monotonic Connection::deadline_after(std::chrono::milliseconds time) const {
  return dependencies_.now + dependencies_.tick + time;
}

Clock::Monotonic Connection::deadline_for(const Progress& progress, std::chrono::milliseconds stall) const {
  const auto earned = std::chrono::milliseconds(progress.bytes * 1000 / dependencies_.limits.minimum_rate);
  return std::min(deadline_after(stall), progress.since + dependencies_.tick + stall + earned);
}

void Connection::sweep() {
  if (doing_ == Doing::reading && reader_.phase() == Phase::idle) reader_.release_memory();
  if (dependencies_.now < deadline_) return;
  if (doing_ == Doing::reading && reader_.phase() != Phase::idle)
    return cut_off({408, "the request took too long to arrive"});
  deadline_ = kNever;
  if (doing_ == Doing::writing) return abort();
  stream_.close();
}

void Connection::cut_off(const Refusal& refusal) {
  dependencies_.report(refusal, stream_.peer());
  const std::string answer = answer_of(refusal);
  const std::string_view part = answer;
  stream_.try_write({&part, 1});
  stream_.shutdown();
  stream_.close();
  // `run` learns of this only when it continues. Until then, nothing may refuse the request again.
  broken_ = true;
  deadline_ = kNever;
  set_arriving(false);
  reader_.give_up();
}

void Connection::set_arriving(bool arriving) {
  if (arriving == arriving_.has_value()) return;
  if (arriving) {
    arriving_ = dependencies_.arriving.insert(dependencies_.arriving.end(), this);
  } else {
    dependencies_.arriving.erase(*std::exchange(arriving_, std::nullopt));
  }
}

bool Connection::displace_oldest() {
  const auto oldest = std::ranges::find_if(dependencies_.arriving, [this](const Connection* other) {
    return other != this && other->doing_ == Doing::reading && other->reader_.is_strangers();
  });
  if (oldest == dependencies_.arriving.end()) return false;
  Connection& other = **oldest;
  if (other.reader_.phase() == Phase::idle) {
    other.set_arriving(false);
    other.reader_.release_memory();
  } else {
    other.cut_off({503, "too many large requests are being received"});
  }
  return true;
}

void Connection::begin_drain() { call_drain(); }

void Connection::close_if_idle() {
  if (doing_ == Doing::reading && reader_.phase() == Phase::idle && may_close_idle()) stream_.close();
}

bool Connection::may_close_idle() const {
  if (!(is_used_ ? dependencies_.closes_idle : dependencies_.closes_unused)) return false;
  return !stream_.has_unread();
}

void Connection::call_drain() {
  if (exchange_ != nullptr && exchange_->drain_) std::exchange(exchange_->drain_, nullptr)();
}

void Connection::end() {
  keep_alive_ = false;
  stream_.shutdown();
}

void Connection::abort() {
  // The kernel must not keep bytes that the client does not accept.
  if (const int socket = stream_.native_handle(); socket >= 0) {
    const ::linger at_once{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  stream_.close();
  // The client may not be watched any more; see `on_readable`.
  if (exchange_ != nullptr && exchange_->gone_)
    asio::post(stream_.executor(), [self = shared_from_this()] { self->call_gone(); });
}

}  // namespace proteus::net
