#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/growing_memory.hpp"
#include "net/http/fields.hpp"
#include "net/http_client/client_core.hpp"
#include "net/http_client/connecting.hpp"
#include "net/http_client/response_parser.hpp"
#include "net/io/deadlines.hpp"
#include "net/io/step_budget.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

// One request and its response on one connection: the memory of both, and the steps that need no waiting. Reused for
// other requests after it has ended.
class ClientExchange final : private Timed {
 public:
  ClientExchange() = default;
  ~ClientExchange() { end(); }

  std::string head_text;  // head of the request; kept here to reuse its memory

  void begin(std::shared_ptr<ClientCore> core, std::string_view pool_key, AnswerBody body);
  // Returns the connection to the pool if the response was read to its end; otherwise closes it.
  void end();

  void abort_by(RequestAbort& abort);
  void forget_abort() { abort_ = nullptr; }
  void abort();
  bool is_aborted() const { return is_aborted_; }

  ClientCore& core() { return *core_; }
  // Returns false if there is no idle connection.
  bool take_idle_connection();
  // Returns false if connections to this host use no links, or if no link has room.
  bool open_over_link();
  // Starts an attempt to open a connection, which an abort ends. Valid until `adopt` or `end`.
  Connecting& start_connecting() {
    filter_version_ = core_->filter_version();
    return connecting_.emplace(core_->means());
  }
  void adopt(Stream stream);
  void drop_connection();

  // Sets the time by which the whole response must have arrived.
  void set_end(Clock::Monotonic end) { end_ = end; }
  Clock::Monotonic end_time() const { return end_; }
  // Starts the deadline for the head. Once the head is complete, `end_time` is the deadline.
  void start_deadline(Clock::Monotonic deadline);
  void move_end(Clock::Monotonic end) {
    end_ = end;
    set_deadline(end);
  }

  // Writes the head and as much of the body as the connection accepts at once. `wait` sends the rest, which must live
  // until then unless `keep_unsent` is called. Fails if the host certainly received nothing; the connection is then
  // dropped.
  std::expected<void, ErrorCode> write_at_once(std::span<const std::string_view> body);
  void keep_unsent();
  // Sends over an idle connection, with a deadline for the head. Returns false if nothing was sent.
  bool send_over_idle(std::span<const std::string_view> body, Clock::Monotonic head_deadline);

  // Waits until there may be something to receive, and sends the rest of the request in the meantime: a host may
  // respond before it has read the whole request, and then read no more.
  Task<Waited> wait();
  // Ends a running `wait`.
  void stop_waiting();

  // Reads what has arrived of the head. Returns true once the head is complete.
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

  // Drops the connection, and returns what the I/O error means for the exchange.
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
  std::vector<std::string_view> unsent_;  // parts of the request
  std::string kept_;                      // what `unsent_` refers to after `keep_unsent`

  GrowingMemory head_;
  std::size_t filled_ = 0;    // bytes received until the head was complete
  std::size_t head_end_ = 0;  // 0 until the head is complete
  GrowingMemory body_;        // the body, if it does not fit behind the head
  std::size_t decoded_ = 0;   // decoded bytes of the body, at the front of the window
  std::size_t raw_ = 0;       // received bytes behind the decoded ones, still with framing
  StepBudget budget_;         // for reading
  bool is_others_turn_ = false;
  bool is_stopped_ = false;           // `stop_waiting` was called
  bool is_streamed_ = false;          // the decoded bytes were returned by `try_read_some`
  bool is_reusable_ = true;           // false for faults that the response does not show
  std::uint64_t filter_version_ = 0;  // under which the connection was opened
  RequestAbort* abort_ = nullptr;
  bool is_aborted_ = false;
};

}  // namespace proteus::net
