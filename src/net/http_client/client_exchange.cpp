#include "net/http_client/client_exchange.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kBlock = std::size_t{16} << 10U;
constexpr std::size_t kLeastRead = std::size_t{4} << 10U;
// Longest read of a long body in one step. A few steps take less than a millisecond.
constexpr std::size_t kMostRead = std::size_t{128} << 10U;
constexpr std::size_t kPadding = ClientResponse::kPadding;

// Returns how long the host states to keep an idle connection, minus a second for latency. The client must close first:
// otherwise a request may arrive just after the host has closed.
std::chrono::milliseconds kept_alive_for(const Fields& fields) {
  constexpr auto kLong = std::chrono::hours(24);
  const auto field = fields.find("keep-alive");
  if (!field) return kLong;
  const auto at = field->find("timeout=");
  if (at == std::string_view::npos) return kLong;
  unsigned seconds = 0;
  const std::string_view digits = field->substr(at + 8);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), seconds).ec != std::errc{}) return kLong;
  return std::chrono::seconds(seconds) - std::chrono::seconds(1);
}

// Returns how many bytes may be filled; the rest is padding.
std::size_t capacity(const GrowingMemory& memory) { return memory ? memory.size() - kPadding : 0; }

}  // namespace

void ClientExchange::begin(std::shared_ptr<ClientCore> core, std::string_view pool_key, AnswerBody body) {
  core_ = std::move(core);
  host_ = &core_->enter(pool_key);
  parser_.begin(core_->options().response_limits, body);
  fields_.clear();
  if (capacity(head_) > kBlock) head_ = {};
  head_.grow(kBlock + kPadding, 0);
  body_ = {};
  filled_ = head_end_ = decoded_ = raw_ = 0;
  is_streamed_ = is_others_turn_ = false;
  is_reusable_ = true;
  is_aborted_ = false;
}

void ClientExchange::abort_by(RequestAbort& abort) {
  if (abort.exchange_ != nullptr) abort.exchange_->forget_abort();
  abort_ = &abort;
  abort.exchange_ = this;
  is_aborted_ = abort.requested_;
}

void ClientExchange::abort() {
  is_aborted_ = true;
  if (connecting_) connecting_->abandon();
  if (stream_) stream_.close();
}

void ClientExchange::end() {
  if (!core_) return;
  if (abort_ != nullptr) std::exchange(abort_, nullptr)->exchange_ = nullptr;
  // A short body that the caller did not read has often arrived by now; the connection can then be reused.
  if (stream_ && head_end_ > 0 && decode_received() && parser_.is_done()) release();
  drop_connection();
  connecting_.reset();
  unsent_.clear();
  kept_ = {};
  unwatch();
  core_->leave(*host_);
  core_ = nullptr;
}

bool ClientExchange::take_idle_connection() {
  auto idle = core_->take_idle(*host_);
  if (!idle) return false;
  stream_ = std::move(idle->stream);
  filter_version_ = idle->filter_version;
  return true;
}

bool ClientExchange::open_over_link() {
  if (!core_->options().is_multiplexed) return false;
  auto stream = core_->open_over_link(*host_);
  if (!stream) return false;
  stream_ = *std::move(stream);
  return true;
}

void ClientExchange::adopt(Stream stream) {
  connecting_.reset();
  stream_ = core_->options().is_multiplexed ? core_->open_over(*host_, std::move(stream)) : std::move(stream);
}

void ClientExchange::drop_connection() {
  if (stream_) stream_.close();
  stream_ = {};
}

void ClientExchange::start_deadline(Clock::Monotonic deadline) {
  watch(core_->deadlines(), deadline);
  core_->arm();
}

std::expected<void, ErrorCode> ClientExchange::write_at_once(std::span<const std::string_view> body) {
  unsent_.assign(1, head_text);
  unsent_.insert(unsent_.end(), body.begin(), body.end());
  const IoResult sent = stream_.try_write(unsent_);
  drop_front(unsent_, sent.size);
  if (!sent.error || sent.error == asio::error::would_block) return {};
  unsent_.clear();
  // The connection was closed before it accepted a byte. Over TLS that is never certain.
  if (sent.size == 0 && sent.error != asio::error::operation_aborted && !stream_.is_tls()) {
    drop_connection();
    return std::unexpected(sent.error);
  }
  is_reusable_ = false;  // the host may have rejected the request unread; the response says why
  return {};
}

void ClientExchange::keep_unsent() {
  if (unsent_.empty()) return;
  std::string kept;
  for (const std::string_view part : unsent_)
    kept += part;
  kept_ = std::move(kept);
  unsent_.assign(1, kept_);
}

bool ClientExchange::send_over_idle(std::span<const std::string_view> body, Clock::Monotonic head_deadline) {
  while (take_idle_connection()) {
    start_deadline(head_deadline);
    if (!write_at_once(body)) continue;
    keep_unsent();
    return true;
  }
  return false;
}

Task<Waited> ClientExchange::wait() {
  if (std::exchange(is_others_turn_, false)) return give_way();
  budget_.begin();
  return unsent_.empty() ? stream_.wait_readable() : send_rest();
}

Task<Waited> ClientExchange::give_way() {
  const bool wanted = co_await let_others_run();
  co_return Waited{wanted ? ErrorCode() : ErrorCode(asio::error::operation_aborted)};
}

// Sends until there is something to receive. If the wait is stopped, a later call sends the rest.
Task<Waited> ClientExchange::send_rest() {
  struct Ear {
    Stream* stream;  // null once the coroutine has ended
    bool heard = false;
  };
  const auto ear = std::make_shared<Ear>(&stream_);
  const std::shared_ptr<void> leave(nullptr, [this, ear](void*) {
    ear->stream = nullptr;
    if (stream_) stream_.stop_waiting();
  });
  stream_.on_readable([ear](ErrorCode error) {
    if (error || ear->stream == nullptr) return;
    ear->heard = true;
    ear->stream->stop_waiting();
  });
  is_stopped_ = false;
  while (!unsent_.empty() && !ear->heard) {
    const auto [blocked] = co_await stream_.wait_writable();
    // `stop_waiting` cannot end a wait that has already completed; hence `is_stopped_`.
    if (!ear->heard && (is_stopped_ || blocked == asio::error::operation_aborted))
      co_return Waited{asio::error::operation_aborted};
    if (ear->heard) break;
    const IoResult sent = blocked ? IoResult{blocked, 0} : stream_.try_write(unsent_);
    drop_front(unsent_, sent.size);
    if (sent.error && sent.error != asio::error::would_block) {
      // No more can be sent, but the host may have sent a response that says why.
      unsent_.clear();
      is_reusable_ = false;
    }
  }
  co_return Waited{};
}

void ClientExchange::stop_waiting() {
  is_stopped_ = true;
  if (stream_) stream_.stop_waiting();
}

Result<bool> ClientExchange::receive_head() {
  if (stream_ && !stream_.has_news()) return false;
  if (filled_ == capacity(head_)) head_.grow((2 * filled_) + kPadding, filled_);
  const IoResult got = stream_.try_read({head_.data() + filled_, capacity(head_) - filled_});
  if (got.error == asio::error::would_block) return false;
  if (got.error) return std::unexpected(broken(got.error));
  filled_ += got.size;
  auto end = parser_.parse_head({head_.data(), filled_}, fields_);
  if (!end) {
    drop_connection();
    return std::unexpected(std::move(end).error().within(host_->key));
  }
  if (*end == 0) return false;
  head_end_ = *end;
  raw_ = filled_ - head_end_;
  if (!unsent_.empty() && parser_.status() >= 400) {
    // The host has rejected the request, and needs no more of it.
    unsent_.clear();
    is_reusable_ = false;
  }
  set_deadline(end_);
  if (parser_.is_done()) release();
  return true;
}

std::span<char> ClientExchange::window() {
  if (body_) return {body_.data(), capacity(body_)};
  return {head_.data() + head_end_, capacity(head_) - head_end_};
}

Result<> ClientExchange::check_coding() const {
  const auto coding = fields_.find("content-encoding");
  if (!coding || coding->empty() || same_field_name(*coding, "identity")) return {};
  return std::unexpected(errors::protocol(
      fmt::format("{}: the answer is encoded as {}, which was not asked for", host_->key, log::printable(*coding))));
}

Result<> ClientExchange::decode_received() {
  if (raw_ == 0) return {};
  auto decoded = parser_.decode(window().subspan(decoded_, raw_));
  if (!decoded) {
    drop_connection();
    return std::unexpected(std::move(decoded).error().within(host_->key));
  }
  if (decoded->consumed < raw_) is_reusable_ = false;  // bytes follow the response
  decoded_ += decoded->produced;
  raw_ = 0;
  return {};
}

Result<> ClientExchange::receive_body() {
  if (!stream_) return std::unexpected(broken(asio::error::operation_aborted));
  if (!stream_.has_news()) return {};
  make_room();
  const auto room = window().subspan(decoded_);
  const IoResult got = stream_.try_read(room.first(std::min(room.size(), kMostRead)));
  if (got.error == asio::error::would_block) return {};
  if (got.error == asio::error::eof) {
    auto ended = parser_.end_of_stream();
    drop_connection();
    if (!ended) return std::unexpected(std::move(ended).error().within(host_->key));
    return {};
  }
  if (got.error) return std::unexpected(broken(got.error));
  raw_ = got.size;
  return {};
}

// Moves a body that outgrows the block of the head to its own memory. The head stays, because `fields_` points into it.
void ClientExchange::make_room() {
  const auto current = window();
  const auto length = parser_.content_length();
  const std::size_t needed = length && !is_streamed_ ? static_cast<std::size_t>(*length) : decoded_ + kLeastRead;
  if (current.size() >= needed) return;
  const std::size_t size = std::max(needed, length ? 0 : 2 * current.size()) + kPadding;
  if (body_) return body_.grow(size, decoded_);
  body_.grow(size, 0);
  if (decoded_ > 0) std::memcpy(body_.data(), current.data(), decoded_);
}

Result<std::optional<std::string_view>> ClientExchange::try_read_all(std::size_t limit) {
  if (auto plain = check_coding(); !plain) return std::unexpected(std::move(plain).error());
  if (std::exchange(is_streamed_, false)) decoded_ = 0;
  const auto length = parser_.content_length();
  while (!(length && *length > limit) && decoded_ <= limit) {
    if (parser_.is_done() && raw_ == 0) {
      release();
      return std::string_view(window().data(), decoded_);
    }
    if (raw_ > 0) {
      if (auto decoded = decode_received(); !decoded) return std::unexpected(std::move(decoded).error());
      continue;
    }
    if ((is_others_turn_ = budget_.is_over())) return std::nullopt;
    if (auto received = receive_body(); !received) return std::unexpected(std::move(received).error());
    if (raw_ == 0 && stream_) return std::nullopt;
  }
  drop_connection();
  return std::unexpected(errors::too_large("the body of the answer", limit).within(host_->key));
}

std::shared_ptr<const void> ClientExchange::take_memory() {
  if (!body_) return nullptr;
  decoded_ = 0;
  return std::make_shared<const GrowingMemory>(std::move(body_));
}

Task<Result<std::string_view>> ClientExchange::read_all(std::size_t limit) {
  for (;;) {
    const auto body = try_read_all(limit);
    if (!body) co_return std::unexpected(body.error());
    if (*body) co_return **body;
    if (auto [error] = co_await wait(); error) co_return std::unexpected(broken(error));
  }
}

Result<std::optional<std::string_view>> ClientExchange::try_read_some() {
  if (auto plain = check_coding(); !plain) return std::unexpected(std::move(plain).error());
  is_streamed_ = true;
  decoded_ = 0;
  for (;;) {
    if (auto decoded = decode_received(); !decoded) return std::unexpected(std::move(decoded).error());
    if (parser_.is_done()) release();
    if (decoded_ > 0 || parser_.is_done()) return std::string_view(window().data(), decoded_);
    if ((is_others_turn_ = budget_.is_over())) return std::nullopt;
    if (auto received = receive_body(); !received) return std::unexpected(std::move(received).error());
    if (raw_ == 0 && stream_) return std::nullopt;
  }
}

Task<Result<std::string_view>> ClientExchange::read_some() {
  for (;;) {
    const auto some = try_read_some();
    if (!some) co_return std::unexpected(some.error());
    if (*some) co_return **some;
    if (auto [error] = co_await wait(); error) co_return std::unexpected(broken(error));
  }
}

Error ClientExchange::broken(const ErrorCode& error) {
  const bool expired = is_expired();
  drop_connection();
  if (expired) return errors::timeout(fmt::format("the answer of {}", host_->key));
  if (is_aborted_ || error == asio::error::operation_aborted)
    return errors::cancelled(fmt::format("the request to {}", host_->key));
  if (head_end_ > 0)
    return errors::interrupted(fmt::format("{}: the answer broke off: {}", host_->key, error.message()));
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return errors::interrupted(fmt::format("{} closed the connection {}", host_->key,
                                           filled_ > 0 ? "within its answer" : "without answering"));
  }
  return errors::interrupted(fmt::format("{}: {}", host_->key, error.message()));
}

void ClientExchange::release() {
  if (!stream_) return;
  // A response may arrive before the whole request was sent. The host would read the next request on the connection as
  // the rest of this one.
  const bool reusable = is_reusable_ && unsent_.empty() && parser_.keep_alive() && raw_ == 0 && !is_expired();
  unwatch();
  if (!reusable) return drop_connection();
  core_->give_back(*host_, std::move(stream_), kept_alive_for(fields_), filter_version_);
  stream_ = {};
}

}  // namespace proteus::net
