#pragma once

#include <cstdint>
#include <span>

#include "net/chunked.hpp"
#include "net/read_buffer.hpp"
#include "net/request_head_parser.hpp"

namespace proteus::net {

// Turns the bytes of a connection into requests, one after the other. Does no I/O: who owns it puts bytes
// into `space`, says so by `commit`, and asks `advance` what that led to.
class RequestReader {
 public:
  explicit RequestReader(const HttpLimits& limits);

  enum class Step : std::uint8_t {
    need_bytes,
    expects_continue,  // the client waits for "100 Continue" before it sends the body; said once
    ready,             // `request` is whole, until `finish`
    refused,           // `refusal` says why; nothing more can be read
  };
  Step advance();

  enum class Phase : std::uint8_t { idle, head, body, ready };
  Phase phase() const;

  // Never empty, unless a request is ready: then only as large as the buffer happens to be.
  std::span<char> space();
  void commit(std::size_t count) { buffer_.commit(count); }

  Request& request() { return request_; }
  const Request& request() const { return request_; }
  bool keep_alive() const { return parser_.framing().keep_alive; }
  const Refusal& refusal() const { return refusal_; }

  // Drops the request, and keeps what was read behind it.
  void finish();
  // Gives the buffer back, if nothing is in it.
  void release_memory();

 private:
  enum class State : std::uint8_t { head, sized_body, chunked_body, ready, refused };

  Step begin_body();
  Step advance_sized_body();
  Step advance_chunked_body();
  Step need_body();
  Step ready(std::size_t body_size);
  Step refuse(const Refusal& refusal);

  std::size_t head_size() const { return parser_.consumed(); }

  const HttpLimits& limits_;
  ReadBuffer buffer_;
  Request request_;
  RequestHeadParser parser_;
  ChunkedDecoder chunked_;
  std::size_t decoded_ = 0;  // bytes of a chunked body, behind the head; encoded ones follow
  State state_ = State::head;
  bool continue_said_ = false;
  Refusal refusal_;
};

}  // namespace proteus::net
