#pragma once

#include "server/http/http_endpoint.hpp"

namespace proteus::server {

class LegacyChannel;

// Sessions over Streamable HTTP (2024-11-05 to 2025-11-25). Made anew for each HTTP request.
class LegacyHttp {
 public:
  LegacyHttp(HttpEndpoint& endpoint, Via via) : endpoint_(endpoint), via_(via) {}

  // Before a message is read: whether another process made the session that it is for, which is not here.
  bool is_elsewhere(const net::Request& request, const Caller& caller);
  // Has that process read and answer it. False where nothing was answered: it is to be read here.
  Task<bool> pass_on(net::Exchange& exchange);

  Task<> post(net::Exchange& exchange, json::Message& message, const Caller& caller);
  // An array of messages, which only 2025-03-26 knew; the answers come on one stream.
  Task<> batch(net::Exchange& exchange, const Caller& caller);
  Task<> get(net::Exchange& exchange, const Caller& caller);
  Task<> remove(net::Exchange& exchange, const Caller& caller);

 private:
  // The session a request names, or the HTTP error that says why there is none here.
  struct SessionLookup {
    std::shared_ptr<Session> session;
    unsigned status = 0;
    std::string_view why;
    std::optional<SessionFacts> facts = {};  // where one of the processes made it for this caller
  };
  SessionLookup look_up(const net::Request& request, std::optional<std::string_view> id, const Caller& caller) const;
  // The same as it was found before.
  SessionLookup find_session(const net::Request& request, const Caller& caller);
  // Whether the session is here, as far as this process can know by itself.
  bool is_sure(const SessionLookup& found) const;
  // Where it is not: whoever has it answers, or it is refused, and this is null; or it is here after all, or was taken
  // over just now. `id` is that of the message.
  Task<std::shared_ptr<Session>> look_elsewhere(net::Exchange& exchange, std::string_view id, SessionLookup lookup,
                                                const Caller& caller);
  // Whether a process other than this and `except`, which was asked before, has answered.
  Task<bool> ask_everybody(net::Exchange& exchange, std::string_view id, ProcessKey except) const;
  // The rest of a stream of a process that has ended, for a session that goes on here.
  Task<> resume_left(net::Exchange& exchange, std::shared_ptr<Session> session, EventId last, const Caller& caller);
  Task<> read_stream(net::Exchange& exchange, Session& session, bool standalone, std::shared_ptr<Outbox> outbox) const;
  static Error no_longer_kept();
  Task<> initialize(net::Exchange& exchange, json::Message& message, const Caller& caller);
  // The caller is who sent this request, by its own credentials: a session may be older than they are.
  Task<> request(net::Exchange& exchange, json::Message& message, std::shared_ptr<Session> session,
                 const Caller& caller);
  Task<> call(net::Exchange& exchange, const mcp::Request& request, std::shared_ptr<Session> session,
              const Caller& caller);
  Task<> refuse(net::Exchange& exchange, const mcp::Request& request, const Error& error) const;
  // Empty where the request was cancelled. `counted`: the HTTP request stood for this one when it was let in.
  Task<std::string> answer_in_batch(json::Message& message, Session& session, const Caller& caller,
                                    LegacyChannel& channel, bool counted);

  HttpEndpoint& endpoint_;
  const Via via_;
  std::optional<SessionLookup> found_;
  std::optional<OtherProcesses::Relayed> said_;  // by the process that made the session, if it was asked
};

}  // namespace proteus::server
