#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/message/authorizer.hpp"
#include "client/message/received.hpp"
#include "mcp/method.hpp"
#include "mcp/version.hpp"
#include "net/http/fields.hpp"
#include "net/io/stream.hpp"

namespace proteus::client {

// The id of one of our requests, unique within a connection. An integer on the wire.
using RequestId = std::int64_t;
inline constexpr RequestId kNoRequest = 0;

// A message to send. `parts` are written one after the other; their text and that of the headers must outlive the
// sending.
struct Outgoing {
  RequestId id = kNoRequest;  // kNoRequest for notifications and for our answers
  mcp::Method method{};
  boost::container::small_vector<std::string_view, 12> parts;
  // Ignored by transports without headers.
  boost::container::small_vector<net::Field, 8> headers;
  Authorizer* authorizer = nullptr;     // credentials to use instead of the connection's; null for the connection's
  int refused_before = 0;               // times that the server has refused its credentials
  std::optional<mcp::Version> version;  // version to state in a header, independent of what was negotiated
};

// The reply to a request: a message, or an HTTP server's refusal to give one.
struct Reply {
  int status = 0;                       // HTTP status; 0 for other transports
  std::optional<Received> message;      // the answer; with a status above 299 an error, or nothing
  std::string excerpt;                  // printable beginning of a body that is not a message
  std::chrono::seconds retry_after{0};  // wait that a refusal asked for; zero for none
  std::string challenge = {};           // WWW-Authenticate of a refusal
  std::string dpop_nonce = {};
  ReadyHeaders::Pointer sent = {};  // refused credentials of a request from `try_exchange`, which the caller repeats
};

// A legacy server's session over HTTP.
struct HttpSession {
  std::string id;
  mcp::Version version = mcp::kNewestLegacy;
};

// Receives the messages that are not answers to requests. Called on the connection's thread. `during` is the request on
// whose stream the message arrived, or kNoRequest if the transport cannot tell.
class Inbox {
 public:
  virtual void on_notification(const Received& message, RequestId during) = 0;
  virtual void on_request(Received message, RequestId during) = 0;

 protected:
  ~Inbox() = default;
};

// Whether an answer stays on the connection's thread, so that it may share the received bytes, or may move to another.
enum class Stay : std::uint8_t { here, anywhere };

// The awaited reply to a request that was sent. Belongs to its transport's thread; the transport must outlive it.
class PendingReply {
 public:
  virtual ~PendingReply() = default;

  // What is known without waiting.
  struct Poll {
    std::optional<Reply> reply = {};
    bool waits = false;  // without a reply: true if it may arrive later, false if only `finish` can get it
  };
  // Returns the reply if it has arrived, without waiting. Passes other messages that have arrived to the inbox.
  virtual Result<Poll> poll() = 0;
  // Waits until polling may make progress. If the wait ends for another reason, the next poll reports that.
  virtual Task<net::Waited> wait() = 0;
  // Ends `wait`.
  virtual void stop_waiting() = 0;
  // Moves the deadline to `from_now` from now; zero for none.
  virtual void set_deadline(std::chrono::milliseconds from_now) = 0;
  // Returns true if an event stream arrived as a whole with the head of the response, so that nothing more can follow.
  virtual bool is_all_here() const = 0;

  // Continues as `Transport::exchange` would. From here on the caller enforces deadlines.
  virtual Task<Result<Reply>> finish() = 0;
};

// A way to reach a server: Streamable HTTP, HTTP+SSE, or the pipes of a program. Belongs to one thread; `close` must
// have ended before it is destroyed. Requests run concurrently. Cancelling a coroutine that awaits `exchange` closes
// the request's own stream if it has one; the caller decides whether the server must be notified, too.
class Transport {
 public:
  virtual ~Transport() = default;

  // Connects, or starts the program, if the transport keeps a connection of its own. Called once, before other members.
  virtual Task<Result<>> start() = 0;
  // Returns false once the transport's own connection is lost: it cannot be used any more.
  virtual bool usable() const = 0;

  // Sends the request and returns the reply. Passes notifications and requests that arrive before it to the inbox. The
  // caller enforces deadlines.
  virtual Task<Result<Reply>> exchange(const Outgoing& request) = 0;
  // Begins an exchange if that needs no waiting. Otherwise sends nothing and returns null. `time` limits the wait for
  // the reply until `finish` is called.
  virtual std::shared_ptr<PendingReply> try_exchange(const Outgoing& /*request*/, std::chrono::milliseconds /*time*/,
                                                     Stay /*stay*/) {
    return nullptr;
  }
  // Sends a message that has no answer. Fails if an HTTP server refuses it.
  virtual Task<Result<>> send(const Outgoing& message) = 0;

  // Sets the negotiated version, on which headers and rules depend.
  virtual void speak(mcp::Version version) = 0;
  // Forgets the session without ending it, so that another can be initialized.
  virtual void forget_session() {}
  // Continues a session of another process. Returns false if the transport has no sessions.
  virtual bool resume_session(const HttpSession& /*session*/) { return false; }
  bool has_session() const { return !session().empty(); }
  // Returns the server's id of the session; empty if there is no session.
  virtual std::string_view session() const { return {}; }
  // Returns whether a legacy server can tell the requests of this transport from those of others, and so keep state.
  virtual bool keeps_session() const { return true; }

  // Reads a legacy server's own stream and resumes it when it ends. Returns only with an error: the server offers no
  // stream (`unsupported`), the session is gone (`not_found`), or the stream cannot be kept open. Calls `on_open` each
  // time the stream was opened without resuming, because announcements may have been missed.
  virtual Task<Result<>> listen(std::function<void()> on_open) = 0;

  // Returns whether requests carry headers, and so mirrored parameters.
  virtual bool has_headers() const = 0;
  // Returns whether each request has a stream of its own, whose end the server notices.
  virtual bool has_streams() const = 0;

  // Ends the session, if there is one, and every connection. Exchanges under way fail.
  virtual Task<> close() = 0;
};

}  // namespace proteus::client
