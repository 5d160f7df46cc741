#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/growing_memory.hpp"
#include "net/http/fields.hpp"
#include "net/http_client/client_core.hpp"
#include "net/http_client/connecting.hpp"
#include "net/http_client/response_parser.hpp"
#include "net/io/deadlines.hpp"
#include "net/io/step_budget.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

// One request and its answer on one connection: the memory of both, and the steps that need no waiting. Used
// again for other requests once it has ended.
class ClientExchange final : private Timed {
 public:
  ClientExchange() = default;
  ~ClientExchange() { end(); }

  std::string head_text;  // of the request; kept here to reuse its memory

  void begin(std::shared_ptr<ClientCore> core, std::string_view pool_key, AnswerBody body);
  // Lets go of the connection: to the pool if the answer was read to its end, closed otherwise.
  void end();

  void abort_by(RequestAbort& abort);
  void forget_abort() { abort_ = nullptr; }
  void abort();
  bool is_aborted() const { return is_aborted_; }

  ClientCore& core() { return *core_; }
  Stream& stream() { return stream_; }
  // False if no idle one is there.
  bool take_idle_connection();
  // False where connections to this host go over no link, or none has room.
  bool open_over_link();
  // An attempt to open one, which an abort ends; until `adopt` or `end`.
  Connecting& start_connecting() {
    filter_version_ = core_->filter_version();
    return connecting_.emplace(core_->means());
  }
  void adopt(Stream stream);
  void drop_connection();
  // Something went wrong with the connection that the answer does not tell.
  void forbid_reuse() { is_reusable_ = false; }

  // Until when the answer is to be there.
  void set_end(Clock::Monotonic end) { end_ = end; }
  Clock::Monotonic end_time() const { return end_; }
  // Of the head; then the answer's own begins.
  void start_deadline(Clock::Monotonic deadline);
  void move_end(Clock::Monotonic end) {
    end_ = end;
    set_deadline(end);
  }

  // Writes the head and as much of the body as is taken at once; the rest goes while it is waited for, and must live as
  // long unless `keep_unsent` is called. False where the host got nothing of it for certain: the connection is dropped.
  std::expected<void, ErrorCode> write_at_once(std::span<const std::string_view> body);
  void keep_unsent();
  // Over idle connections, within the time for the head. False where nothing was sent.
  bool send_over_idle(std::span<const std::string_view> body, Clock::Monotonic head_deadline);

  // Sends what is left of the request, until there may be something to receive: a host may answer before it has read
  // all of a request, and read no more.
  Task<Waited> wait();
  // Ends that, where somebody waits.
  void stop_waiting();

  // Reads what has arrived of the head. True once it is complete.
  Result<bool> receive_head();

  unsigned status() const { return parser_.status(); }
  const Fields& fields() const { return fields_; }
  const ResponseParser& parser() const { return parser_; }

  Result<std::optional<std::string_view>> try_read_all(std::size_t limit);
  Result<std::optional<std::string_view>> try_read_some();
  bool is_all_here() const { return parser_.content_length() && raw_ >= *parser_.content_length(); }
  Task<Result<std::string_view>> read_all(std::size_t limit);
  std::shared_ptr<const void> take_memory();
  Task<Result<std::string_view>> read_some();

  // What an I/O error means for the exchange, which it ends.
  Error broken(const ErrorCode& error);

 private:
  void give_up() override {
    if (stream_) stream_.close();
  }

  Task<Waited> send_rest();
  Task<Waited> give_way();
  std::span<char> window();
  Result<> check_coding() const;
  Result<> decode_received();
  Result<> receive_body();
  void make_room();
  void release();

  std::shared_ptr<ClientCore> core_;
  HostPool* host_ = nullptr;
  std::optional<Connecting> connecting_;
  Stream stream_;
  ResponseParser parser_;
  Fields fields_;
  Clock::Monotonic end_ = Clock::Monotonic::max();
  std::vector<std::string_view> unsent_;  // of the request
  std::string kept_;                      // what that refers to, where it is kept

  GrowingMemory head_;
  std::size_t filled_ = 0;    // bytes received of the head
  std::size_t head_end_ = 0;  // 0 until it is complete
  GrowingMemory body_;        // where the body does not fit behind the head
  std::size_t decoded_ = 0;   // bytes of the body at the front of the window
  std::size_t raw_ = 0;       // received bytes after them, framing not yet taken off
  StepBudget budget_;         // of reading
  bool is_others_turn_ = false;
  bool is_stopped_ = false;           // who sends the rest is to stop
  bool is_streamed_ = false;          // what is decoded was given out by read_some
  bool is_reusable_ = true;           // as far as only we can tell
  std::uint64_t filter_version_ = 0;  // by which the connection was opened
  RequestAbort* abort_ = nullptr;
  bool is_aborted_ = false;
};

}  // namespace proteus::net
