#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <proteus/error.hpp>

#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "client/message/era.hpp"
#include "client/message/facts.hpp"
#include "client/message/options.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// The negotiated transport and server facts that requests use. A request keeps its copy while it runs, even if the link
// is renewed meanwhile. Each negotiation has its own generation.
struct Negotiated {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<const ServerFacts> facts;
  std::uint64_t generation = 0;

  mcp::Era era() const { return facts->era(); }
};

// Makes the transports of a connection. The link finds out which one it needs.
class TransportMaker {
 public:
  virtual ~TransportMaker() = default;
  virtual bool runs_program() const = 0;
  virtual std::shared_ptr<Transport> program() = 0;
  virtual std::shared_ptr<Transport> streamable_http() = 0;
  virtual std::shared_ptr<Transport> old_sse() = 0;
};

// The transport to a server and what was negotiated over it. Finds out the server's era and transport by the rules of
// the specification, performs the handshake of the legacy era, and remembers the findings. If they prove wrong, finds
// out again. Belongs to one thread.
class Link {
 public:
  Link(const Executor& executor, TransportMaker& maker, const Options& options, RequestId& last_id);

  // Returns what was negotiated, or connects and negotiates first. Uses `authorizer` for that instead of the
  // connection's credentials, unless it is null. One attempt runs at a time: concurrent callers wait for it and share
  // its outcome, unless it was cancelled. Callers with other credentials share a failure only if the server, and not
  // what provides the credentials, could not be reached or did not answer in time.
  Task<Result<Negotiated>> establish(std::shared_ptr<Authorizer> authorizer = nullptr);
  // Returns what was negotiated; nothing before that, or after it was lost.
  const std::optional<Negotiated>& current() const { return negotiated_; }
  // Returns what was negotiated if a request can be sent at once; null otherwise.
  const Negotiated* standing() const {
    return !is_busy() && !closed_ && negotiated_ && negotiated_->transport->usable() ? &*negotiated_ : nullptr;
  }
  // Replaces the facts of what was negotiated by what the server says about itself now.
  void learn(ServerFacts facts);
  // Returns the latest generation; 0 before the first negotiation.
  std::uint64_t latest() const { return generation_; }
  // Returns the current transport, also during an attempt; null if there is none.
  const std::shared_ptr<Transport>& transport() const { return transport_; }

  // Report that the server has lost the session, or is not of the era it was taken for, so that the next `establish`
  // negotiates again. Do nothing and return false if `generation` is not the current one.
  bool session_lost(std::uint64_t generation);
  bool era_doubtful(std::uint64_t generation);
  // Ends the session, or the program, in the background; the next request begins another. Does nothing if `generation`
  // is not the current one.
  void renew(std::uint64_t generation);

  // Probes the era of a program again if it was taken to be legacy only because it was silent. Calls `on_era_corrected`
  // later if it turns out to be modern.
  void reconsider();

  // Returns whether the server is known to speak the HTTP+SSE transport of 2024-11-05.
  bool uses_old_sse() const { return known_old_sse_; }

  // Forgets the session without ending it.
  void leave_session();
  // Closes the transport; the next `establish` connects again.
  Task<> rest();
  Task<> close();
  bool is_closed() const { return closed_; }

 private:
  class Attempt;
  struct Outcome;
  struct Probe;

  bool is_busy() const { return under_way_ != nullptr; }
  // Returns the credentials for the handshake of the attempt under way; null if there are none.
  std::shared_ptr<Authorizer> authorizer() const;

  Task<Result<>> attempt();
  Task<Result<>> attempt_as_known();
  Task<Result<>> attempt_program();
  Task<Result<>> attempt_http();
  Task<Result<>> attempt_old_sse();

  Task<Result<>> start(std::shared_ptr<Transport> transport);
  Task<Result<StartPlaces::Place>> place_to_start();
  Task<Result<ProbeVerdict>> probe(std::chrono::milliseconds timeout);
  // Sends a probe by `ask`, and a second one if the first verdict demands that. Never returns the verdict `again`.
  static Task<Result<ProbeVerdict>> ask_era(std::function<Task<Result<Reply>>()> ask);
  // Starts a probe in the background, which runs until it is answered or the transport is closed.
  std::shared_ptr<Probe> begin_probe();
  Task<> run_probe(std::shared_ptr<Probe> probe);
  // Waits until the probe has a verdict; fails with kind `timeout` if it has none within `patience`.
  Task<Result<>> await_probe(std::shared_ptr<Probe> probe, std::chrono::milliseconds patience);
  Task<Result<>> settle_silence(std::shared_ptr<Probe> probe);
  Result<> adopt_modern(ProbeVerdict verdict);
  // Continues the session that the options name, once. Returns false if there is none to continue.
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
  std::shared_ptr<const ServerFacts> known_modern_;  // learned elsewhere, so that no probe is needed

  std::shared_ptr<Transport> transport_;
  std::shared_ptr<Probe> probe_;  // the latest probe
  TaskGroup probing_;             // its tasks end when their transports are closed
  TaskGroup closing_;             // its tasks own and close transports; never cancelled
  std::optional<Negotiated> negotiated_;
  std::uint64_t generation_ = 0;
  bool has_resumed_ = false;            // resuming was tried
  std::shared_ptr<Outcome> under_way_;  // of the attempt under way
  bool closed_ = false;
  Bell idle_;
  Deadline* handshake_ = nullptr;  // the deadline of the current step of an attempt
};

}  // namespace proteus::client
