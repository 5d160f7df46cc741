#include "net/http_server/exchange.hpp"

#include <array>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include <boost/asio/post.hpp>

#include "net/http_server/http_connection.hpp"

namespace proteus::net {
namespace {

constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

std::size_t total_size(std::span<const std::string_view> parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, std::string_view part) { return sum + part.size(); });
}

void append_number(std::string& out, std::size_t number, int base) {
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
  out.append(digits.data(), end);
}

Task<> read_body_first(const HttpHandler& handler, Exchange& exchange) {
  if (co_await exchange.read_body(Standing::known)) co_await handler(exchange);
}

}  // namespace

HttpHandler with_body(HttpHandler handler) {
  return [handler = std::move(handler)](Exchange& exchange) {
    return exchange.has_body() ? handler(exchange) : read_body_first(handler, exchange);
  };
}

const Request& Exchange::request() const { return connection_.reader_.request(); }

Executor Exchange::executor() const { return connection_.stream_.executor(); }

void Exchange::set_standing(Standing standing) { connection_.reader_.set_standing(standing); }

bool Exchange::has_body() const { return connection_.reader_.is_ready(); }

Task<bool> Exchange::read_body(Standing standing) {
  Connection& connection = connection_;
  set_standing(standing);
  if (has_body()) co_return true;
  const bool is_here = co_await connection.read_request();
  connection.doing_ = Connection::Doing::handling;
  if (!is_here) {
    state_ = State::done;
    connection.keep_alive_ = false;
  }
  co_return is_here;
}

std::shared_ptr<const void> Exchange::hold_body() const { return connection_.reader_.hold_body(); }

void Exchange::expect_open() const {
  if (state_ != State::open) throw std::logic_error("a request was answered twice");
}

bool Exchange::may_write_body(unsigned status) const { return may_have_body(status) && request().method() != "HEAD"; }

// Writes the head without the fields that frame the body.
void Exchange::begin(const ResponseHead& head) {
  expect_open();
  Connection& connection = connection_;
  std::string& out = connection.head_;
  out.assign(status_line(head.status));
  out.append(connection.dependencies_.date_line);
  if (!head.content_type.empty()) append_field(out, "Content-Type", head.content_type);
  for (const auto& [name, value] : head.fields)
    append_field(out, name, value);
  out.append(head.prepared);
  out.append(fields_);
  if (!connection.keep_alive_) {
    out.append("Connection: close\r\n");
  } else if (request().version() == HttpVersion::http_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
}

bool Exchange::try_reply(const ResponseHead& head, std::span<const std::string_view> body) {
  Connection& connection = connection_;
  connection.keep_alive_ = has_body() && connection.reader_.keep_alive() && !connection.dependencies_.draining;
  begin(head);
  if (may_have_body(head.status)) {
    connection.head_.append("Content-Length: ");
    append_number(connection.head_, total_size(body), 10);
    connection.head_.append(kLineEnd);
  }
  connection.head_.append(kLineEnd);
  state_ = State::done;
  connection.out_.assign(1, connection.head_);
  if (may_write_body(head.status)) connection.out_.insert(connection.out_.end(), body.begin(), body.end());
  return connection.try_flush();
}

Task<bool> Exchange::finish_reply() { return connection_.flush(); }

Task<bool> Exchange::reply(const ResponseHead& head, std::span<const std::string_view> body) {
  if (try_reply(head, body)) co_return true;
  co_return co_await finish_reply();
}

Task<bool> Exchange::reply(const ResponseHead& head, std::string_view body) {
  only_part_ = body;
  return reply(head, std::span<const std::string_view>(&only_part_, 1));
}

Task<bool> Exchange::begin_stream(const ResponseHead& head) {
  Connection& connection = connection_;
  chunked_ = request().version() == HttpVersion::http_1_1;
  bodiless_ = !may_write_body(head.status);
  connection.keep_alive_ =
      has_body() && connection.reader_.keep_alive() && !connection.dependencies_.draining && chunked_;
  begin(head);
  if (chunked_ && may_have_body(head.status)) connection.head_.append("Transfer-Encoding: chunked\r\n");
  connection.head_.append(kLineEnd);
  state_ = State::streaming;
  connection.out_.assign(1, connection.head_);
  if (connection.try_flush()) co_return true;
  co_return co_await connection.flush();
}

Task<bool> Exchange::write(std::span<const std::string_view> parts) {
  if (state_ != State::streaming) throw std::logic_error("there is no stream to write to");
  Connection& connection = connection_;
  const std::size_t size = total_size(parts);
  if (connection.broken_ || bodiless_ || size == 0) co_return !connection.broken_;
  connection.out_.clear();
  if (chunked_) {
    connection.head_.clear();
    append_number(connection.head_, size, 16);
    connection.head_.append(kLineEnd);
    connection.out_.push_back(connection.head_);
  }
  connection.out_.insert(connection.out_.end(), parts.begin(), parts.end());
  if (chunked_) connection.out_.push_back(kLineEnd);
  if (connection.try_flush()) co_return true;
  co_return co_await connection.flush();
}

Task<bool> Exchange::write(std::string_view part) {
  only_part_ = part;
  return write(std::span<const std::string_view>(&only_part_, 1));
}

Task<bool> Exchange::end_stream() {
  if (state_ != State::streaming) throw std::logic_error("there is no stream to end");
  Connection& connection = connection_;
  state_ = State::done;
  if (connection.broken_ || bodiless_ || !chunked_) co_return !connection.broken_;
  connection.out_.assign(1, kLastChunk);
  if (connection.try_flush()) co_return true;
  co_return co_await connection.flush();
}

void Exchange::on_disconnect(std::move_only_function<void()> gone) {
  gone_ = std::move(gone);
  connection_.watch();
}

void Exchange::on_drain(std::move_only_function<void()> finish) {
  drain_ = std::move(finish);
  if (!connection_.dependencies_.draining) return;
  boost::asio::post(executor(), [connection = connection_.shared_from_this()] { connection->call_drain(); });
}

void Exchange::close() { connection_.abort(); }

void Exchange::end_connection() { connection_.end(); }

}  // namespace proteus::net
