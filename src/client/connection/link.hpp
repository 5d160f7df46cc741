#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <proteus/error.hpp>

#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "client/message/era.hpp"
#include "client/message/facts.hpp"
#include "client/message/options.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// What a request is made with: held for as long as it runs, even if the link is renewed meanwhile.
struct Negotiated {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<const ServerFacts> facts;
  std::uint64_t generation = 0;

  mcp::Era era() const { return facts->era(); }
};

// How transports are made; which of them a connection needs is found out.
class TransportMaker {
 public:
  virtual ~TransportMaker() = default;
  virtual bool runs_program() const = 0;
  virtual std::shared_ptr<Transport> program() = 0;
  virtual std::shared_ptr<Transport> streamable_http() = 0;
  virtual std::shared_ptr<Transport> old_sse() = 0;
};

// A transport and what was agreed on over it: finds the server's era and transport by the rules of the
// specification, does the handshake where there is one, and remembers what it found. When what it remembers
// proves wrong it is found anew. Belongs to one thread.
class Link {
 public:
  Link(const Executor& executor, TransportMaker& maker, const Options& options, RequestId& last_id);

  // Gives the footing there is, or makes one, with these credentials in place of the connection's. Callers at the same
  // time share one attempt.
  Task<Result<Negotiated>> establish(std::shared_ptr<Authorizer> authorizer = nullptr);
  // The footing there is; nothing where none is, or where it was lost.
  const std::optional<Negotiated>& current() const { return negotiated_; }
  // The same where a request can be made on it at once; null otherwise.
  const Negotiated* standing() const {
    return !busy_ && !closed_ && negotiated_ && negotiated_->transport->usable() ? &*negotiated_ : nullptr;
  }
  // What there is of one: also while a footing is being made.
  const std::shared_ptr<Transport>& transport() const { return transport_; }

  // What a reply said about the footing it was made on; false, and without effect, if that was renewed since.
  bool session_lost(std::uint64_t generation);
  bool era_doubtful(std::uint64_t generation);
  // Ends the session, so that another one takes its place: of a program, another program.
  void renew(std::uint64_t generation);

  // Asks a program once more for its era, where only its silence told it; `on_era_corrected` follows where it was
  // wrong.
  void reconsider();

  // Whether the server is known to speak the HTTP+SSE transport of 2024-11-05.
  bool uses_old_sse() const { return known_old_sse_; }

  // Forgets the session without ending it.
  void leave_session();
  // Gives up the transport; the next footing is made anew.
  Task<> rest();
  Task<> close();
  bool is_closed() const { return closed_; }

 private:
  class Attempt;
  struct Probe;

  Task<Result<>> attempt();
  Task<Result<>> attempt_as_known();
  Task<Result<>> attempt_program();
  Task<Result<>> attempt_http();
  Task<Result<>> attempt_old_sse();

  Task<Result<>> start(std::shared_ptr<Transport> transport);
  Task<Result<StartPlaces::Place>> place_to_start();
  Task<Result<ProbeVerdict>> probe(std::chrono::milliseconds timeout);
  // Asks aside, for as long as the transport is there.
  std::shared_ptr<Probe> begin_probe();
  Task<> run_probe(std::shared_ptr<Probe> probe);
  // Until it has an answer; an error of kind `timeout` where it has none in this time.
  Task<Result<>> await_probe(std::shared_ptr<Probe> probe, std::chrono::milliseconds patience);
  Task<Result<>> settle_silence(std::shared_ptr<Probe> probe);
  Result<> adopt_modern(ProbeVerdict verdict);
  // Whether it stands on the session that the options name.
  bool resume();
  Task<Result<Reply>> initialize();
  Task<Result<>> adopt_legacy(const Reply& reply);
  Task<Result<Reply>> handshake_request(mcp::Method method, Params params, mcp::Era era,
                                        std::chrono::milliseconds timeout);
  Task<Result<Reply>> exchange(std::shared_ptr<Transport> transport, mcp::Method method, Params params, mcp::Era era);
  Task<> drop_transport();
  void close_transport();
  void forget();
  void stand_on(ServerFacts facts);

  Executor executor_;
  TransportMaker& maker_;
  const Options& options_;
  RequestId& last_id_;

  std::optional<mcp::Era> known_era_;
  bool known_old_sse_ = false;
  std::shared_ptr<const ServerFacts> known_modern_;  // learned elsewhere; it need not be asked

  std::shared_ptr<Transport> transport_;
  std::shared_ptr<Probe> probe_;  // that was begun last
  TaskGroup probing_;             // ends with the transports
  TaskGroup closing_;             // the transports, which belong to the tasks in it; never cancelled
  std::optional<Negotiated> negotiated_;
  std::uint64_t generation_ = 0;
  bool has_resumed_ = false;  // or tried to
  bool busy_ = false;
  bool closed_ = false;
  Bell idle_;
  Deadline* handshake_ = nullptr;                     // of the message under way
  std::shared_ptr<Authorizer> handshake_authorizer_;  // may be empty
};

}  // namespace proteus::client
