#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/refusal_log.hpp"
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

struct HttpEndpointOptions {
  mcp::Eras eras;
  HostRules hosts;
  Doorkeeper doorkeeper;
  // The value of the WWW-Authenticate field of a 403 for a scope that a token lacks: see mcp::lacks_scope. None:
  // bearer_challenge.
  std::function<std::string(const net::Request&, const Error&)> challenge;
  // Whether a caller may ask once more now; an error becomes 429. None: as often as they like.
  std::function<Result<>(const Caller&)> admit_request;
  // A caller's place for one more stream that stays open, held for as long as the stream is; an error where there is
  // none. None: as many as they like.
  std::function<Result<std::shared_ptr<void>>(const Caller&)> admit_stream;
  std::chrono::milliseconds keep_alive = std::chrono::seconds(15);  // comments on quiet streams
  RefusalLog* refusals = nullptr;  // told of requests that are turned away; outlives the endpoint
  AskingLimits asking;
  Sessions::Limits sessions;
  // Where the events of legacy streams are kept; outlives the endpoint. None: in memory, within the bounds below.
  EventStore* events = nullptr;
  MemoryEventStore::Limits kept_events;
  // Where several processes serve as one: how sessions are known to all of them, and the way to the others. Both
  // outlive the endpoint.
  const SessionIds* session_ids = nullptr;
  OtherProcesses* others = nullptr;
  // Where sessions are kept that others go on with when their process has ended; outlives the endpoint. None: they end
  // with it.
  SessionRecords* session_records = nullptr;
  json::ScanLimits messages;
  // For what takes long about a long message; used only while requests
  // are handled. None: it is done where the message arrives.
  BackgroundThreads* background = nullptr;
};

// One MCP endpoint over HTTP, both eras at once. Requests may come on any worker's thread.
class HttpEndpoint {
 public:
  HttpEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key, HttpEndpointOptions options);

  // Answers one HTTP request to the endpoint's path.
  Task<> handle(net::Exchange& exchange);
  // The same to a path of the HTTP+SSE transport, where there is one.
  Task<> handle_old_sse(net::Exchange& exchange);
  // The same for requests that another process has passed on, which must have been made sure of.
  Task<> handle_for_peer(net::Exchange& exchange);
  Task<> handle_old_sse_for_peer(net::Exchange& exchange);

  Sessions& sessions() { return sessions_; }

  // Ends the streams that only listen, in good order. Those that answer a running request go on, and new requests are
  // still answered.
  void end_listening();
  // Ends all streams, and cancels what runs for legacy clients. New requests are still answered.
  void end_streams();

 private:
  friend class ModernHttp;
  friend class LegacyHttp;
  friend class OldSse;

  class Visit;
  class Taking;
  enum class Transport : std::uint8_t { streamable_http, old_sse };

  Task<> handle(net::Exchange& exchange, Transport transport, Via via);

  // The process that made this session or stream of the caller's, where that is another one; empty for none.
  ProcessKey maker_of(std::string_view id, const Caller& caller, Via via);
  // Has another process answer. False where there is no such process any more, and nothing was answered.
  Task<bool> pass_on(net::Exchange& exchange, ProcessKey to, std::string_view id, mcp::Era era) const;
  // The same, which also tells where that process has nothing of it. What failed was answered.
  Task<OtherProcesses::Relayed> relay(net::Exchange& exchange, ProcessKey to, std::string_view id, mcp::Era era) const;
  Task<> refuse_relayed(net::Exchange& exchange, const Error& error, std::string_view id, mcp::Era era) const;

  // Where a session is that is not among those here: taken over just now, or at another process; or nowhere.
  struct Whereabouts {
    std::shared_ptr<Session> session = {};
    ProcessKey elsewhere = {};
  };
  // Takes a session over whose process has ended, where there is a record of it.
  Task<Result<Whereabouts>> find_or_take_over(std::string id, SessionFacts facts, Caller caller);
  Result<std::shared_ptr<Session>> take_over(const std::string& id, const SessionFacts& facts, const Caller& caller,
                                             const SessionRecord& record);
  Result<std::shared_ptr<void>> admit_stream(const Caller& caller) const;
  // Adds what the client needs to know to get a better token to the answer's head.
  void challenge(net::Exchange& exchange, const Error& error) const;

  Service& service_;
  Listeners& listeners_;
  const HttpEndpointOptions options_;
  std::unique_ptr<EventStore> own_events_;  // where none was given
  Sessions sessions_;
  std::unique_ptr<OpenedIds> opened_ids_;  // where several processes serve as one
  std::mutex taking_mutex_;
  std::set<std::string> taking_;  // sessions
  RequestStates states_;
  OldSse old_sse_{*this};
};

// Takes no new work at the server's address, ends what only listens, and lets running requests finish. What is left
// after `grace` is cancelled. Connections on which nothing runs stay open for as long as `idle` says, see
// net::HttpServer; when they are closed, sessions are handed over. Blocks until nothing is left; called from a thread
// that is none of the workers, which run.
void drain(net::HttpServer& server, net::Workers& workers, HttpEndpoint& endpoint, std::chrono::milliseconds grace,
           std::chrono::milliseconds idle = {});

}  // namespace proteus::server
