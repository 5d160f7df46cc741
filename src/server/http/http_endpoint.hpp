#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "base/clock.hpp"
#include "base/log/refusal_log.hpp"
#include "base/tasks/background_threads.hpp"
#include "net/http_server/http_server.hpp"
#include "server/core/asking.hpp"
#include "server/core/event_store.hpp"
#include "server/core/listeners.hpp"
#include "server/core/request_state.hpp"
#include "server/core/service.hpp"
#include "server/core/session.hpp"
#include "server/http/admission.hpp"
#include "server/http/host_rules.hpp"
#include "server/http/old_sse.hpp"
#include "server/http/other_processes.hpp"

namespace proteus::server {

class HttpAnswer;

struct HttpEndpointOptions {
  mcp::Eras eras;
  HostRules hosts;
  Doorkeeper doorkeeper;
  // Returns the value of WWW-Authenticate for a token that is no longer valid (401) or lacks a scope (403; see
  // mcp::lacks_scope). Empty: bearer_challenge.
  std::function<std::string(const net::Request&, const Error&)> challenge;
  // Counts a request of a caller and checks its rate limit; an error becomes 429. Empty: no limit.
  std::function<Result<>(const Caller&)> admit_request;
  // Takes a caller's place for one more stream, which the stream holds while it is open; an error becomes 429. Empty:
  // no limit.
  std::function<Result<std::shared_ptr<void>>(const Caller&)> admit_stream;
  std::chrono::milliseconds keep_alive = std::chrono::seconds(15);  // interval of comments on quiet streams
  RefusalLog* refusals = nullptr;  // notified of rejected requests; must outlive the endpoint
  AskingLimits asking;
  Sessions::Limits sessions;
  // The store of the events of legacy streams; must outlive the endpoint. Null: in memory, within `kept_events`.
  EventStore* events = nullptr;
  MemoryEventStore::Limits kept_events;
  // For a cluster: session ids that all processes can open, and the other processes. Both must outlive the endpoint.
  const SessionIds* session_ids = nullptr;
  OtherProcesses* others = nullptr;
  // The records of sessions, with which other processes continue them after this process has ended; must outlive the
  // endpoint. Null: sessions end with the process.
  SessionRecords* session_records = nullptr;
  json::ScanLimits messages;
  // Threads for long computations on long messages; used only while requests are handled. Null: the worker does that
  // work.
  BackgroundThreads* background = nullptr;
};

// One MCP endpoint over HTTP, for both eras. Requests may arrive on any worker's thread.
class HttpEndpoint {
 public:
  HttpEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key, HttpEndpointOptions options);

  // Answers one HTTP request to the endpoint's path. The exchange must outlive the task.
  Task<> handle(net::Exchange& exchange);
  // Answers one HTTP request to the path of the HTTP+SSE transport.
  Task<> handle_old_sse(net::Exchange& exchange);
  // The same for requests that another process has forwarded. The caller must have verified that they come from such a
  // process.
  Task<> handle_for_peer(net::Exchange& exchange);
  Task<> handle_old_sse_for_peer(net::Exchange& exchange);

  Sessions& sessions() { return sessions_; }

  // Ends the streams that only listen, in good order, and each later stream of a session at once. Streams that answer a
  // running request continue, and new requests are still answered.
  void end_listening();
  // Ends all listening streams and all sessions, and cancels the running requests of sessions. New requests are still
  // answered.
  void end_streams();

 private:
  friend class ModernHttp;
  friend class LegacyHttp;
  friend class OldSse;

  class Visit;
  class Taking;
  enum class Transport : std::uint8_t { streamable_http, old_sse };

  Task<> handle(net::Exchange& exchange, Transport transport, Via via);

  // Returns the other process that made this session or stream of the caller; empty if there is none.
  ProcessKey maker_of(std::string_view id, const Caller& caller, Via via);
  // Lets another process answer. Returns false if there is no such process any more; nothing was answered then.
  Task<bool> pass_on(net::Exchange& exchange, ProcessKey to, std::string_view id, mcp::Era era) const;
  // Like `pass_on`, but distinguishes a process that does not have what is needed. Answers errors itself.
  Task<OtherProcesses::Relayed> relay(net::Exchange& exchange, ProcessKey to, std::string_view id, mcp::Era era) const;
  Task<> refuse_relayed(net::Exchange& exchange, const Error& error, std::string_view id, mcp::Era era) const;

  // Where a session is: here, perhaps taken over just now; at another process; or nowhere.
  struct Whereabouts {
    std::shared_ptr<Session> session = {};
    ProcessKey elsewhere = {};
  };
  // Finds a session, and takes it over if its record says that no living process has it.
  Task<Result<Whereabouts>> find_or_take_over(std::string id, SessionFacts facts, Caller caller);
  Result<std::shared_ptr<Session>> take_over(const std::string& id, const SessionFacts& facts, const Caller& caller,
                                             const SessionRecord& record);
  Result<std::shared_ptr<void>> admit_stream(const Caller& caller) const;
  // Adds the WWW-Authenticate header with which the client can get a better token.
  void challenge(net::Exchange& exchange, const Error& error) const;
  // Returns the answer to a request whose credentials were withdrawn while it waited.
  HttpAnswer refuse_withdrawn(net::Exchange& exchange, std::string_view id) const;

  Service& service_;
  Listeners& listeners_;
  const HttpEndpointOptions options_;
  std::unique_ptr<EventStore> own_events_;  // null if a store was given
  Sessions sessions_;
  std::atomic<bool> ends_listening_ = false;
  std::unique_ptr<OpenedIds> opened_ids_;  // null unless in a cluster
  std::mutex taking_mutex_;
  std::set<std::string> taking_;  // ids of the sessions that requests are taking over
  RequestStates states_;
  OldSse old_sse_{*this};
};

// Drains a server: stops accepting, ends the streams that only listen, lets running requests finish, and cancels what
// is left after `grace`. Idle connections stay open for `idle`, see net::HttpServer::drain; once they are closed,
// sessions are handed over. Blocks until nothing is left. Must be called while the workers run, on a thread that is not
// a worker.
void drain(net::HttpServer& server, net::Workers& workers, HttpEndpoint& endpoint, std::chrono::milliseconds grace,
           std::chrono::milliseconds idle = {});

}  // namespace proteus::server
