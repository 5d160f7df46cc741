#pragma once

#include <cstdint>
#include <span>

#include "net/http/chunked.hpp"
#include "net/http_server/read_buffer.hpp"
#include "net/http_server/request_head_parser.hpp"

namespace proteus::net {

// Turns the bytes of a connection into requests, one after the other. Does no I/O: its owner puts bytes into `space`,
// calls `commit`, and then `advance` for the outcome.
class RequestReader {
 public:
  // Both arguments must outlive the reader. Without `memory`, only the limits of a single request apply.
  explicit RequestReader(const HttpLimits& limits, ReadMemory* memory = nullptr);

  enum class Step : std::uint8_t {
    need_bytes,
    head,              // `request` has its head but not its whole body; reported once
    expects_continue,  // the client waits for "100 Continue" before it sends the body; reported once
    ready,             // `request` is complete, until `finish`; may come without `head` before it
    refused,           // see `refusal`; nothing more can be read
  };
  Step advance();

  enum class Phase : std::uint8_t { idle, head, body, ready };
  Phase phase() const;

  // Ensures that there is space for the next bytes. Returns false if there is no memory for them.
  bool make_room() { return state_ == State::head ? make_room_for_head() : make_room_for_body(); }
  // Returns where to put the next bytes. Empty if there is no memory for them; `advance` then reports that.
  std::span<char> space();
  // Returns where to put bytes that arrive while a request is ready; empty if there are too many.
  std::span<char> spare() { return filling().spare(); }
  void commit(std::size_t count) { filling().commit(count); }

  // Sets whose memory budget is charged; initially that of strangers.
  void set_standing(Standing standing);

  // Whether the request holds memory of the strangers' budget that `give_up` would free.
  bool is_strangers() const;
  // Frees the memory of a request that is still arriving, which is refused. A head that has arrived stays readable, and
  // so does the beginning of a body that fits behind it.
  void give_up();

  Request& request() { return request_; }
  const Request& request() const { return request_; }
  bool is_ready() const { return state_ == State::ready; }
  // Returns an owner of the body's memory while a request is ready; see Exchange::hold_body.
  std::shared_ptr<const void> hold_body() const { return (is_body_out_ ? body_ : buffer_).hold(); }
  bool keep_alive() const { return parser_.framing().keep_alive; }
  const Refusal& refusal() const { return refusal_; }

  // Drops the request and keeps what was read after it.
  void finish();
  // Releases the buffer if it is empty.
  void release_memory();
  // Drops everything, also the request. Nothing more can be read.
  void end();

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
  // The buffer that the body is read into, and the position of the body in it.
  ReadBuffer& filling() { return is_body_out_ ? body_ : buffer_; }
  std::size_t body_begin() const { return is_body_out_ ? 0 : head_size(); }

  const HttpLimits& limits_;
  ReadMemory* const memory_;
  Standing standing_ = Standing::stranger;
  ReadBuffer buffer_;
  // For a body that does not fit behind its head. The head must not move, because there are views of it.
  ReadBuffer body_;
  bool is_body_out_ = false;
  Request request_;
  RequestHeadParser parser_;
  ChunkedDecoder chunked_;
  std::size_t decoded_ = 0;  // decoded bytes of a chunked body; encoded bytes follow them
  State state_ = State::head;
  bool continue_said_ = false;
  Refusal refusal_;
};

}  // namespace proteus::net
