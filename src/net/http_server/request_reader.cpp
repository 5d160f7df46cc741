#include "net/http_server/request_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace proteus::net {

namespace {

constexpr Refusal kNoMemory{503, "too many large requests are being received"};

}  // namespace

RequestReader::RequestReader(const HttpLimits& limits, ReadMemory* memory)
    : limits_(limits), memory_(memory), parser_(limits) {}

RequestReader::Phase RequestReader::phase() const {
  switch (state_) {
    case State::head: return buffer_.empty() ? Phase::idle : Phase::head;
    case State::sized_body:
    case State::chunked_body: return Phase::body;
    case State::ready:
    case State::refused: break;
  }
  return Phase::ready;
}

std::span<char> RequestReader::space() {
  if (make_room()) return filling().space();
  refuse(kNoMemory);
  return {};
}

void RequestReader::set_standing(Standing standing) {
  standing_ = standing;
  if (memory_ == nullptr) return;
  buffer_.charge_to(*memory_, standing);
  body_.charge_to(*memory_, standing);
}

bool RequestReader::is_strangers() const {
  if (state_ == State::head) return buffer_.is_charged_to(Standing::stranger);
  const bool is_body = state_ == State::sized_body || state_ == State::chunked_body;
  return is_body && is_body_out_ && body_.is_charged_to(Standing::stranger);
}

void RequestReader::give_up() {
  if (state_ == State::head) {
    request_.clear();
    buffer_.release();
  }
  body_.release();
  refuse(kNoMemory);
}

bool RequestReader::make_room_for_head() {
  if (!buffer_.space().empty()) return true;
  return buffer_.reserve(std::max(ReadBuffer::kInitial, 2 * buffer_.size()), memory_, standing_);
}

bool RequestReader::make_room_for_body() {
  const bool is_chunked = state_ == State::chunked_body;
  const std::size_t whole = head_size() + parser_.framing().content_length;
  const bool has_room = is_chunked || is_body_out_ ? !filling().space().empty() : buffer_.room() >= whole;
  if (has_room) return true;
  const std::size_t arrived = filling().size() - body_begin();
  // Includes the size of the head, so that the next request of this size fits into one buffer.
  const std::size_t wanted = is_chunked ? std::max(ReadBuffer::kInitial, 2 * arrived)
                                        : std::min(whole, std::max(ReadBuffer::kKept, 2 * arrived));
  if (!body_.reserve(wanted, memory_, standing_)) return false;
  if (!std::exchange(is_body_out_, true)) {
    std::memcpy(body_.space().data(), buffer_.data() + head_size(), arrived);
    body_.commit(arrived);
    buffer_.truncate(head_size());
  }
  return true;
}

RequestReader::Step RequestReader::advance() {
  switch (state_) {
    case State::head: return advance_head();
    case State::sized_body:
    case State::chunked_body: break;
    case State::ready: return Step::ready;
    case State::refused: return Step::refused;
  }
  const Step step = advance_body();
  if (step != Step::need_bytes || !parser_.framing().expects_continue) return step;
  return std::exchange(continue_said_, true) ? Step::need_bytes : Step::expects_continue;
}

RequestReader::Step RequestReader::advance_head() {
  if (buffer_.empty()) return Step::need_bytes;
  switch (parser_.parse({buffer_.data(), buffer_.size()}, request_)) {
    case RequestHeadParser::Outcome::need_more: return Step::need_bytes;
    case RequestHeadParser::Outcome::refused: return refuse(parser_.refusal());
    case RequestHeadParser::Outcome::done: break;
  }
  chunked_ = {};
  decoded_ = 0;
  state_ = parser_.framing().chunked ? State::chunked_body : State::sized_body;
  const Step step = advance_body();
  return step == Step::need_bytes ? Step::head : step;
}

RequestReader::Step RequestReader::advance_body() {
  return state_ == State::chunked_body ? advance_chunked_body() : advance_sized_body();
}

RequestReader::Step RequestReader::advance_sized_body() {
  const Framing& framing = parser_.framing();
  if (filling().size() - body_begin() >= framing.content_length) return ready(framing.content_length);
  return Step::need_bytes;
}

RequestReader::Step RequestReader::advance_chunked_body() {
  ReadBuffer& buffer = filling();
  const std::size_t known = body_begin() + decoded_;
  const std::span<char> encoded(buffer.data() + known, buffer.size() - known);
  const auto decoded = chunked_.decode(encoded);
  if (!decoded) return refuse({400, "the chunked body is malformed"});
  decoded_ += decoded->produced;
  if (decoded_ > limits_.body_bytes) return refuse({413, "the request body is too large"});
  // Bytes that were not consumed belong to the next request; they are moved up to the body.
  const std::span<char> rest = encoded.subspan(decoded->consumed);
  std::memmove(encoded.data() + decoded->produced, rest.data(), rest.size());
  buffer.truncate(known + decoded->produced + rest.size());
  if (chunked_.is_done()) return ready(decoded_);
  return Step::need_bytes;
}

RequestReader::Step RequestReader::ready(std::size_t body_size) {
  request_.body_ = {filling().data() + body_begin(), body_size};
  state_ = State::ready;
  return Step::ready;
}

RequestReader::Step RequestReader::refuse(const Refusal& refusal) {
  refusal_ = refusal;
  state_ = State::refused;
  return Step::refused;
}

void RequestReader::finish() {
  filling().consume(body_begin() + request_.body().size());
  if (std::exchange(is_body_out_, false)) {
    buffer_.consume(buffer_.size());
    if (body_.has_memory()) buffer_ = std::exchange(body_, {});
  }
  request_.clear();
  parser_.restart();
  continue_said_ = false;
  standing_ = Standing::stranger;  // who sends the next request is not known yet
  state_ = State::head;
}

void RequestReader::release_memory() {
  if (buffer_.empty()) buffer_.release();
}

void RequestReader::end() {
  request_.clear();
  buffer_.release();
  body_.release();
  state_ = State::refused;
}

}  // namespace proteus::net
