#pragma once

#include "server/core/legacy_batch.hpp"
#include "server/http/http_endpoint.hpp"

namespace proteus::server {

class LegacyChannel;

// Sessions over Streamable HTTP (2024-11-05 to 2025-11-25). Each HTTP request has its own object.
class LegacyHttp {
 public:
  LegacyHttp(HttpEndpoint& endpoint, Via via) : endpoint_(endpoint), via_(via) {}

  // Whether the request is for a session that another process made and that is not here. Called before the message is
  // read.
  bool is_elsewhere(const net::Request& request, const Caller& caller);
  // Lets that process read and answer the request. Returns false if nothing was answered, and the request must be read
  // here.
  Task<bool> pass_on(net::Exchange& exchange);

  Task<> post(net::Exchange& exchange, json::Message& message, const Caller& caller);
  // Answers an array of messages, which only 2025-03-26 has, on one stream.
  Task<> batch(net::Exchange& exchange, const Caller& caller);
  Task<> get(net::Exchange& exchange, const Caller& caller);
  Task<> remove(net::Exchange& exchange, const Caller& caller);

 private:
  // The session that a request names, or the HTTP error that says why there is none here.
  struct SessionLookup {
    std::shared_ptr<Session> session;
    unsigned status = 0;
    std::string_view why;
    std::optional<SessionFacts> facts = {};  // set if one of our processes made the id for this caller
  };
  SessionLookup look_up(const net::Request& request, std::optional<std::string_view> id, const Caller& caller) const;
  // Looks up the session of the request, or returns what `is_elsewhere` has found.
  SessionLookup find_session(const net::Request& request, const Caller& caller);
  // Whether the session is here, and no other process may have taken it over.
  bool is_sure(const SessionLookup& found) const;
  // Handles a session that is not, or may not be, here. Returns the session if it is here after all or was taken over
  // just now. Otherwise the process that has it has answered, or the request was rejected; returns null. `id` is that
  // of the message.
  Task<std::shared_ptr<Session>> look_elsewhere(net::Exchange& exchange, std::string_view id, SessionLookup lookup,
                                                const Caller& caller);
  // Asks all living processes except this one and `except`. Returns whether one of them has answered the request.
  Task<bool> ask_everybody(net::Exchange& exchange, std::string_view id, ProcessKey except) const;
  // Sends the rest of a stream of a process that has ended, for a session that continues here.
  Task<> resume_left(net::Exchange& exchange, std::shared_ptr<Session> session, EventId last, const Caller& caller);
  Task<> read_stream(net::Exchange& exchange, Session& session, const Caller& caller, bool standalone,
                     std::shared_ptr<Outbox> outbox) const;
  static Error no_longer_kept();
  Task<> initialize(net::Exchange& exchange, json::Message& message, const Caller& caller);
  // `caller` has the credentials of this request, which may be newer than the session.
  Task<> request(net::Exchange& exchange, json::Message& message, std::shared_ptr<Session> session,
                 const Caller& caller);
  Task<> call(net::Exchange& exchange, const mcp::Request& request, std::shared_ptr<Session> session,
              const Caller& caller);
  Task<> refuse(net::Exchange& exchange, const mcp::Request& request, const Error& error) const;
  // Reads a batch; a background thread reads a long one.
  Task<Result<Batch>> read_batch(net::Exchange& exchange) const;
  // Returns the answer; empty if the request was cancelled. `counted`: the rate limit has counted this request already,
  // with the HTTP request.
  Task<std::string> answer_in_batch(net::Exchange& exchange, json::Message& message, Session& session,
                                    const Caller& caller, LegacyChannel& channel, bool counted);

  HttpEndpoint& endpoint_;
  const Via via_;
  std::optional<SessionLookup> found_;
  std::optional<OtherProcesses::Relayed> said_;  // by the process that made the session, if `pass_on` has asked it
};

}  // namespace proteus::server
