#pragma once

#include <cstdint>
#include <span>

#include "net/http/chunked.hpp"
#include "net/http_server/read_buffer.hpp"
#include "net/http_server/request_head_parser.hpp"

namespace proteus::net {

// Turns the bytes of a connection into requests, one after the other. Does no I/O: who owns it puts bytes
// into `space`, says so by `commit`, and asks `advance` what that led to.
class RequestReader {
 public:
  // Both outlive it. Without `memory` only the limits of a request hold.
  explicit RequestReader(const HttpLimits& limits, ReadMemory* memory = nullptr);

  enum class Step : std::uint8_t {
    need_bytes,
    head,              // `request` is here without its body, or without all of it; said once
    expects_continue,  // the client waits for "100 Continue" before it sends the body; said once
    ready,             // `request` is whole, until `finish`; also without `head` before it
    refused,           // `refusal` says why; nothing more can be read
  };
  Step advance();

  enum class Phase : std::uint8_t { idle, head, body, ready };
  Phase phase() const;

  // Where to put the next bytes that are needed. Empty where there is no memory for them, which `advance` says then.
  std::span<char> space();
  // Where to put bytes that come while a request is ready; empty when there are too many of them.
  std::span<char> spare() { return filling().spare(); }
  void commit(std::size_t count) { filling().commit(count); }

  // Whose memory it is from now on; a stranger's at first.
  void set_standing(Standing standing) { standing_ = standing; }

  Request& request() { return request_; }
  const Request& request() const { return request_; }
  bool is_ready() const { return state_ == State::ready; }
  // Keeps the body of a request that is ready where it is.
  std::shared_ptr<const void> hold_body() const { return (is_body_out_ ? body_ : buffer_).hold(); }
  bool keep_alive() const { return parser_.framing().keep_alive; }
  const Refusal& refusal() const { return refusal_; }

  // Drops the request, and keeps what was read behind it.
  void finish();
  // Gives the buffer back, if nothing is in it.
  void release_memory();

 private:
  enum class State : std::uint8_t { head, sized_body, chunked_body, ready, refused };

  bool make_room_for_head();
  bool make_room_for_body();
  Step advance_head();
  Step advance_body();
  Step advance_sized_body();
  Step advance_chunked_body();
  Step ready(std::size_t body_size);
  Step refuse(const Refusal& refusal);

  std::size_t head_size() const { return parser_.consumed(); }
  // What the body is read into, and where in it the body begins.
  ReadBuffer& filling() { return is_body_out_ ? body_ : buffer_; }
  std::size_t body_begin() const { return is_body_out_ ? 0 : head_size(); }

  const HttpLimits& limits_;
  ReadMemory* const memory_;
  Standing standing_ = Standing::stranger;
  ReadBuffer buffer_;
  // For a body that does not fit behind its head, to which there are views: the head must not move.
  ReadBuffer body_;
  bool is_body_out_ = false;
  Request request_;
  RequestHeadParser parser_;
  ChunkedDecoder chunked_;
  std::size_t decoded_ = 0;  // bytes of a chunked body; encoded ones follow
  State state_ = State::head;
  bool continue_said_ = false;
  Refusal refusal_;
};

}  // namespace proteus::net
