#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/tasks/task.hpp"
#include "json/message.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"
#include "server/core/session_stream.hpp"

namespace proteus::server {

// The server's requests to a legacy client, and the client's answers, which may arrive on any connection. Thread-safe.
class ClientRequests {
 public:
  // The first request gets the number after `before`; see Session.
  explicit ClientRequests(std::uint64_t before = 0) : last_id_(before) {}

  // Sends all requests and waits for all answers, which it adds to the call's rounds. Fails if an answer is an error,
  // the deadline passes or the call is cancelled; requests that are still open are then cancelled at the client.
  // Everything given must outlive the task.
  Task<Result<void>> ask(const mcp::InputRequired& required, Call& call, CallChannel& channel,
                         std::chrono::milliseconds deadline);

  // Asks outside of any request, and returns the result, a JSON object. If the deadline passes or the task is
  // cancelled, the request is cancelled at the client.
  static Task<Result<std::string>> ask(std::shared_ptr<ClientRequests> self, mcp::InputRequest request,
                                       std::shared_ptr<SessionStream> stream, std::chrono::milliseconds deadline);

  // Delivers a result or error of the client. Returns false if no request waits for it.
  bool resolve(const json::Message& answer);
  // Passes on a progress notification of the client to the request that it names, if that is still open.
  void progressed(const json::Message& notification);
  // Fails all open and all later requests, because the client sends nothing any more.
  void end();

 private:
  struct Waiting;
  static void settle(std::shared_ptr<Waiting> waiting, Result<std::string> answer);
  std::string open(std::shared_ptr<Waiting> waiting);
  void close(const std::string& id);

  std::mutex mutex_;
  bool ended_ = false;
  std::uint64_t last_id_;
  std::map<std::string, std::shared_ptr<Waiting>, std::less<>> waiting_;  // by id, as JSON text
};

// Returns the capabilities that the client lacks for these requests, as a JSON object; empty if it lacks none.
std::string missing_capabilities(const mcp::InputRequired& required, const mcp::ClientCapabilities& client);

}  // namespace proteus::server
