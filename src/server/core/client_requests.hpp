#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/task.hpp"
#include "json/message.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"
#include "server/core/session_stream.hpp"

namespace proteus::server {

// The requests that a legacy server sends to its client, and the client's answers, which arrive on whatever
// connection. Thread-safe.
class ClientRequests {
 public:
  // Requests are numbered from behind this: see Session.
  explicit ClientRequests(std::uint64_t before = 0) : last_id_(before) {}

  // Sends all requests and waits for all answers, which go into `rounds`. Fails where an answer is an error,
  // where the deadline passes, or where the call is cancelled; what is still open is then cancelled at the
  // client.
  Task<Result<void>> ask(const mcp::InputRequired& required, Call& call, CallChannel& channel,
                         std::chrono::milliseconds deadline);

  // Asks outside of any request, and gives the result, a JSON object. What nobody waits for any more is cancelled at
  // the client.
  static Task<Result<std::string>> ask(std::shared_ptr<ClientRequests> self, mcp::InputRequest request,
                                       std::shared_ptr<SessionStream> stream, std::chrono::milliseconds deadline);

  // Takes a result or error of the client. False if nobody waits for it.
  bool resolve(const json::Message& answer);
  // Takes what the client says about its progress, and tells whoever asked; nobody where that is over.
  void progressed(const json::Message& notification);
  // The client sends nothing any more: whoever waits for it, or asks it later, is told so.
  void end();

 private:
  struct Waiting;
  static void settle(std::shared_ptr<Waiting> waiting, Result<std::string> answer);
  std::string open(std::shared_ptr<Waiting> waiting);
  void close(const std::string& id);

  std::mutex mutex_;
  bool ended_ = false;
  std::uint64_t last_id_;
  std::map<std::string, std::shared_ptr<Waiting>, std::less<>> waiting_;  // by id as written
};

// The capabilities that a client lacks for these requests, as a JSON object; empty where it can be asked.
std::string missing_capabilities(const mcp::InputRequired& required, const mcp::ClientCapabilities& client);

}  // namespace proteus::server
