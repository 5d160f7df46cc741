#include "net/request_reader.hpp"

#include <algorithm>
#include <cstring>

namespace proteus::net {
namespace {

// What a client that does not wait for answers may send while one is being made, at least.
constexpr std::size_t kSpare = 256;

}  // namespace

RequestReader::RequestReader(const HttpLimits& limits) : limits_(limits), parser_(limits) {}

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
  if (state_ == State::sized_body) {
    buffer_.reserve(head_size() + parser_.framing().content_length + kSpare, request_);
  } else if (state_ != State::ready && buffer_.space().empty()) {
    buffer_.reserve(std::max(ReadBuffer::kInitial, 2 * buffer_.size()), request_);
  }
  return buffer_.space();
}

RequestReader::Step RequestReader::advance() {
  switch (state_) {
    case State::head: break;
    case State::sized_body: return advance_sized_body();
    case State::chunked_body: return advance_chunked_body();
    case State::ready: return Step::ready;
    case State::refused: return Step::refused;
  }
  if (buffer_.empty()) return Step::need_bytes;
  switch (parser_.parse({buffer_.data(), buffer_.size()}, request_)) {
    case RequestHeadParser::Outcome::need_more: return Step::need_bytes;
    case RequestHeadParser::Outcome::refused: return refuse(parser_.refusal());
    case RequestHeadParser::Outcome::done: return begin_body();
  }
  return Step::refused;
}

RequestReader::Step RequestReader::begin_body() {
  const Framing& framing = parser_.framing();
  if (framing.chunked) {
    chunked_ = {};
    decoded_ = 0;
    state_ = State::chunked_body;
    return advance_chunked_body();
  }
  state_ = State::sized_body;
  return advance_sized_body();
}

RequestReader::Step RequestReader::advance_sized_body() {
  const Framing& framing = parser_.framing();
  if (buffer_.size() - head_size() >= framing.content_length) return ready(framing.content_length);
  return need_body();
}

RequestReader::Step RequestReader::advance_chunked_body() {
  const std::size_t known = head_size() + decoded_;
  const std::span<char> encoded(buffer_.data() + known, buffer_.size() - known);
  const auto decoded = chunked_.decode(encoded);
  if (!decoded) return refuse({400, "the chunked body is malformed"});
  decoded_ += decoded->produced;
  if (decoded_ > limits_.body_bytes) return refuse({413, "the request body is too large"});
  // What is not consumed follows the body, and so does the next request.
  const std::span<char> rest = encoded.subspan(decoded->consumed);
  std::memmove(encoded.data() + decoded->produced, rest.data(), rest.size());
  buffer_.truncate(head_size() + decoded_ + rest.size());
  if (chunked_.is_done()) return ready(decoded_);
  return need_body();
}

RequestReader::Step RequestReader::need_body() {
  if (!parser_.framing().expects_continue || continue_said_) return Step::need_bytes;
  continue_said_ = true;
  return Step::expects_continue;
}

RequestReader::Step RequestReader::ready(std::size_t body_size) {
  if (buffer_.space().size() < kSpare) buffer_.reserve(buffer_.size() + kSpare, request_);
  request_.body_ = {buffer_.data() + head_size(), body_size};
  state_ = State::ready;
  return Step::ready;
}

RequestReader::Step RequestReader::refuse(const Refusal& refusal) {
  refusal_ = refusal;
  state_ = State::refused;
  return Step::refused;
}

void RequestReader::finish() {
  buffer_.consume(head_size() + request_.body().size());
  request_.clear();
  parser_.restart();
  continue_said_ = false;
  state_ = State::head;
}

void RequestReader::release_memory() {
  if (buffer_.empty()) buffer_.release();
}

}  // namespace proteus::net
