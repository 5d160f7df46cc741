#include "redis/client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/secrets/sealing.hpp"
#include "net/http_client/client_tls.hpp"

namespace proteus::redis {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10U;
const net::AddressFilter any_address;  // every address is allowed: operators configure it

Error refusal(const std::string& text) {
  if (text.starts_with("MOVED ") || text.starts_with("ASK ") || text.starts_with("CLUSTERDOWN"))
    return errors::unsupported("Redis is part of a Redis Cluster, which is not supported: " + log::printable(text));
  return {ErrorKind::remote, "Redis refused: " + log::printable(text)};
}

Error broken(const std::string& by_us, const net::ErrorCode& error) {
  if (!by_us.empty()) return errors::interrupted(by_us);
  if (error == asio::error::eof) return errors::interrupted("it closed the connection");
  return errors::interrupted(error.message());
}

// Returns a value from the answer to HELLO, which is a list of names and values.
std::string_view value_of(const Reply& hello, std::string_view name) {
  for (std::size_t i = 0; i + 1 < hello.elements.size(); i += 2) {
    if (hello.elements[i].string() == name) return hello.elements[i + 1].string().value_or("");
  }
  return {};
}

}  // namespace

Client::Client(asio::io_context& io, ClientOptions options)
    : io_(io),
      options_(std::move(options)),
      names_(options_.names ? options_.names : std::make_shared<net::NameLookup>()),
      tasks_(io.get_executor()),
      work_(io.get_executor()),
      pause_(io) {}

Client::~Client() = default;

void Client::start() {
  asio::post(io_, [this] {
    if (stopped_) return;
    tasks_.spawn("the connection to Redis", run());
    tasks_.spawn("watching Redis", watch());
  });
}

Task<> Client::stop() {
  stopped_ = true;
  // Waits until everything that was posted before has run.
  co_await asio::post(io_, asio::use_awaitable);
  if (connecting_ != nullptr) connecting_->abandon();
  break_off("the process ends");
  pause_.cancel();
  tasks_.cancel();
  co_await tasks_.join();
}

bool Client::post(const Words& words) {
  std::string bytes;
  write_command(bytes, words);
  return queue(bytes, 1, nullptr, false);
}

bool Client::post(const std::vector<Words>& commands) {
  std::string bytes;
  for (const Words& words : commands)
    write_command(bytes, words);
  return queue(bytes, commands.size(), nullptr, false);
}

Task<Result<Reply>> Client::ask(std::vector<std::string> words) {
  std::string bytes;
  write_command(bytes, Words(words.begin(), words.end()));
  const auto answer = std::make_shared<Answer>();
  if (!queue(bytes, 1, answer, false)) {
    const std::string why = why_away();
    co_return std::unexpected(errors::unavailable(
        fmt::format("Redis at {} cannot be asked: {}", options_.url.shown(), why.empty() ? "too much waits" : why)));
  }
  co_return co_await Answer::receive(answer);
}

bool Client::queue(std::string_view bytes, std::size_t commands, const std::shared_ptr<Answer>& answer, bool is_ours) {
  const auto now = clock_.now();
  const std::scoped_lock lock(mutex_);
  const bool fits = queued_bytes_ + bytes.size() <= options_.queued_bytes &&
                    unanswered_.size() + commands <= options_.queued_commands;
  if (!is_connected() || !fits) {
    dropped_ += commands;
    return false;
  }
  outgoing_.append(bytes);
  queued_bytes_ += bytes.size();
  for (std::size_t i = 0; i < commands; ++i)
    unanswered_.push_back({answer, i == 0 ? bytes.size() : 0, now, is_ours});
  if (!is_ours) commands_ += commands;
  if (!std::exchange(is_woken_, true)) asio::post(io_, [this] { work_.ring(); });
  return true;
}

Task<> Client::run() {
  // Ignores cancellation and ends on its own, so that all commands without an answer fail.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  auto pause = options_.first_pause;
  while (!stopped_) {
    const auto opened = co_await open();
    if (opened) {
      pause = options_.first_pause;
      set_there();
      set_away(co_await serve());
    } else {
      set_away(opened.error());
    }
    if (stream_) stream_.close();
    if (stopped_) break;
    // Not all processes should reconnect at the same moment.
    const auto random = static_cast<unsigned char>(random_bytes(1)[0]);
    pause_.expires_after(pause + pause * random / 1024);
    boost::system::error_code ignored;
    co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    pause = std::min(pause * 2, options_.longest_pause);
  }
}

Task<Result<>> Client::open() {
  net::Connecting connecting({.io = io_,
                              .clock = clock_,
                              .deadlines = deadlines_,
                              .filter = any_address,
                              .names = names_,
                              .tls = [this] { return tls(); },
                              .proxy_limits = {}});
  connecting_ = &connecting;
  auto stream = co_await connecting.run(options_.url.server, nullptr, clock_.now() + options_.connect_timeout);
  connecting_ = nullptr;
  if (!stream) co_return std::unexpected(std::move(stream.error()));
  if (stopped_) co_return std::unexpected(errors::cancelled("connecting to Redis"));
  stream_ = std::move(*stream);
  why_broken_.clear();
  reader_.emplace(options_.replies);
  greeting_since_ = clock_.now();
  auto greeted = co_await greet();
  greeting_since_.reset();
  co_return greeted;
}

// The system's authorities are read once, because that takes long. A file of its own may be renewed.
Result<net::TlsContext> Client::tls() {
  if (tls_) return *tls_;
  auto made = net::client_tls({.authorities = options_.url.authorities});
  if (made && options_.url.authorities.empty()) tls_ = *made;
  return made;
}

Task<Result<>> Client::greet() {
  const RedisUrl& url = options_.url;
  Words hello = {"HELLO", "2"};
  if (!url.password.empty()) {
    const std::string_view user = url.user.empty() ? std::string_view("default") : url.user;
    hello.insert(hello.end(), {"AUTH", user, url.password.reveal()});
  }
  hello.insert(hello.end(), {"SETNAME", "proteus"});
  const auto there = co_await exchange(hello);
  if (!there) co_return std::unexpected(there.error());
  if (value_of(*there, "mode") == "cluster")
    co_return std::unexpected(errors::unsupported("it is part of a Redis Cluster, which is not supported"));
  if (value_of(*there, "mode") == "sentinel")
    co_return std::unexpected(errors::unsupported("it is a Sentinel; name the Redis itself"));
  const auto role = value_of(*there, "role");
  if (role.empty()) co_return std::unexpected(errors::protocol("it does not introduce itself as a Redis does"));
  if (role != "master")
    co_return std::unexpected(
        errors::unavailable(fmt::format("it is a {}, and nothing can be written to it", log::printable(role))));
  if (url.database == 0) co_return Result<>{};
  const std::string database = std::to_string(url.database);
  const auto selected = co_await exchange({"SELECT", database});
  if (!selected) co_return std::unexpected(selected.error());
  co_return Result<>{};
}

Task<Result<Reply>> Client::exchange(Words words) {
  std::string bytes;
  write_command(bytes, words);
  const Secret secret(std::move(bytes));
  const std::array<std::string_view, 1> parts = {secret.reveal()};
  net::IoResult moved = co_await stream_.write(parts);
  std::array<char, 4096> received;
  while (!moved.error) {
    moved = co_await stream_.read_some(received);
    reader_->feed({received.data(), moved.size});
    auto reply = reader_->next();
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    if (!*reply) continue;
    if ((*reply)->is_error()) co_return std::unexpected(refusal((*reply)->text));
    co_return std::move(**reply);
  }
  co_return std::unexpected(broken(why_broken_, moved.error));
}

Task<Error> Client::serve() {
  TaskGroup writing(io_.get_executor());
  is_open_ = true;
  heard_ = clock_.now();
  writing.spawn("writing to Redis", write_commands());
  Error why = co_await read_replies();
  is_open_ = false;
  stream_.close();
  work_.ring();
  co_await writing.join();
  co_return why;
}

Task<> Client::write_commands() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  std::string bytes;
  while (is_open_) {
    bytes.clear();
    {
      const std::scoped_lock lock(mutex_);
      std::swap(bytes, outgoing_);
      is_woken_ = false;
    }
    if (bytes.empty()) {
      co_await work_.wait_quietly();
      continue;
    }
    const std::array<std::string_view, 1> parts = {bytes};
    // This ends `read_replies`, too.
    if ((co_await stream_.write(parts)).error) co_return stream_.close();
  }
}

Task<Error> Client::read_replies() {
  std::vector<char> received(kReadAtOnce);
  for (;;) {
    const net::IoResult read = co_await stream_.read_some(received);
    if (read.error) co_return broken(why_broken_, read.error);
    heard_ = clock_.now();
    reader_->feed({received.data(), read.size});
    for (;;) {
      auto reply = reader_->next();
      if (!reply) co_return std::move(reply.error());
      if (!*reply) break;
      if (auto taken = take(std::move(**reply)); !taken) co_return std::move(taken.error());
    }
  }
}

Result<> Client::take(Reply reply) {
  Sent sent;
  {
    const std::scoped_lock lock(mutex_);
    if (unanswered_.empty()) return std::unexpected(errors::protocol("Redis sent a reply to no command"));
    sent = std::move(unanswered_.front());
    unanswered_.pop_front();
    queued_bytes_ -= sent.bytes;
  }
  if (!reply.is_error()) {
    if (sent.answer) sent.answer->deliver(std::move(reply));
    return {};
  }
  ++failed_;
  const Error error = refusal(reply.text);
  if (sent.answer) {
    sent.answer->deliver(std::unexpected(error));
  } else {
    ++refused_;
    if (!std::exchange(has_refused_, true)) log::warning("{}: {}", options_.url.shown(), error.message());
  }
  // Another Redis is the master now; reconnecting finds it.
  if (reply.text.starts_with("READONLY")) return std::unexpected(error);
  return {};
}

Task<> Client::watch() {
  auto last = clock_.now();
  for (;;) {
    co_await sleep_for(kLook);
    const auto now = clock_.now();
    deadlines_.sweep(now);
    // If this thread was stalled, it first reads what has arrived meanwhile.
    if (now - std::exchange(last, now) < 3 * kLook) look(now);
  }
}

void Client::look(Clock::Monotonic now) {
  if (greeting_since_ && now - *greeting_since_ > options_.connect_timeout) return break_off("it does not answer");
  if (!is_open_) return;
  std::optional<Clock::Monotonic> oldest;
  {
    const std::scoped_lock lock(mutex_);
    if (!unanswered_.empty()) oldest = unanswered_.front().at;
  }
  if (oldest && now - std::max(*oldest, heard_) > options_.answer_timeout) return break_off("it does not answer");
  if (oldest || now - heard_ < options_.ping_every) return;
  std::string ping;
  write_command(ping, {"PING"});
  queue(ping, 1, nullptr, true);
}

void Client::break_off(std::string why) {
  if (!stream_ || !why_broken_.empty()) return;
  why_broken_ = std::move(why);
  stream_.close();
}

void Client::set_there() {
  ++connections_;
  has_refused_ = false;
  std::vector<std::shared_ptr<DeliveryBell>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    why_away_.clear();
    connected_ = true;
    waiting.swap(waiting_for_connection_);
  }
  for (const auto& bell : waiting)
    bell->ring();
  if (std::exchange(has_logged_, false)) {
    log::info("Redis at {} is there again", options_.url.shown());
  } else {
    log::info("Redis at {} is there", options_.url.shown());
  }
}

void Client::set_away(const Error& why) {
  std::deque<Sent> lost;
  {
    const std::scoped_lock lock(mutex_);
    connected_ = false;
    why_away_ = why.message();
    outgoing_.clear();
    queued_bytes_ = 0;
    is_woken_ = false;
    lost.swap(unanswered_);
  }
  for (const Sent& sent : lost) {
    if (!sent.is_ours) ++failed_;
    if (sent.answer) sent.answer->deliver(std::unexpected(errors::interrupted("Redis: " + why.message())));
  }
  if (stopped_ || std::exchange(has_logged_, true)) return;
  log::warning("Redis at {} is away: {}", options_.url.shown(), why.message());
}

Task<Result<>> Client::wait_until_connected() {
  auto bell = std::make_shared<DeliveryBell>();
  {
    const std::scoped_lock lock(mutex_);
    if (is_connected()) co_return Result<>{};
    waiting_for_connection_.push_back(bell);
  }
  const auto until = clock_.now() + options_.connect_timeout;
  if (co_await DeliveryBell::wait(bell, until)) co_return Result<>{};
  const std::scoped_lock lock(mutex_);
  std::erase(waiting_for_connection_, bell);
  co_return std::unexpected(
      errors::unavailable(fmt::format("Redis at {} is away: {}", options_.url.shown(), why_away_)));
}

Client::Figures Client::figures() const {
  const std::scoped_lock lock(mutex_);
  return {.connected = is_connected(),
          .connections = connections_,
          .commands = commands_,
          .failed = failed_,
          .dropped = dropped_,
          .queued = unanswered_.size()};
}

std::string Client::why_away() const {
  const std::scoped_lock lock(mutex_);
  return is_connected() ? std::string() : why_away_;
}

}  // namespace proteus::redis
