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

#include "base/task.hpp"
#include "client/message/authorizer.hpp"
#include "client/message/received.hpp"
#include "mcp/method.hpp"
#include "mcp/version.hpp"
#include "net/http/fields.hpp"
#include "net/io/stream.hpp"

namespace proteus::client {

// Ours, and unique within a connection; on the wire an integer.
using RequestId = std::int64_t;
inline constexpr RequestId kNoRequest = 0;

// A message to send. The parts are gathered; they and the headers must outlive the sending.
struct Outgoing {
  RequestId id = kNoRequest;  // none for a notification or an answer of ours
  mcp::Method method{};
  boost::container::small_vector<std::string_view, 12> parts;
  // Where the transport has any.
  boost::container::small_vector<net::Field, 8> headers;
  Authorizer* authorizer = nullptr;     // in place of the connection's, where that is not whose request it is
  int refused_before = 0;               // times that it was sent and refused for want of credentials
  std::optional<mcp::Version> version;  // that it says in a header by itself, where nothing was negotiated before
};

// What came back to a request: a message, or the refusal of an HTTP server to give one.
struct Reply {
  int status = 0;                       // of HTTP; 0 where there is none
  std::optional<Received> message;      // an answer to the request; with a status above 299 perhaps an error
  std::string excerpt;                  // of a body that is no message, printable
  std::chrono::seconds retry_after{0};  // what a refusal asked for; zero for nothing
  std::string challenge = {};           // WWW-Authenticate of a refusal
  std::string dpop_nonce = {};
  ReadyHeaders::Pointer sent = {};  // the credentials of a request that was sent at once; its sender sends it again
};

// What a legacy server knows a session by over HTTP.
struct HttpSession {
  std::string id;
  mcp::Version version = mcp::kNewestLegacy;
};

// Where a transport delivers what answers no request. Called on the connection's thread.
class Inbox {
 public:
  // `during`: the request on whose stream it came, where a transport can tell.
  virtual void on_notification(const Received& message, RequestId during) = 0;
  virtual void on_request(Received message, RequestId during) = 0;

 protected:
  ~Inbox() = default;
};

// Where an answer goes. What stays on the connection's thread can share the bytes that were received.
enum class Stay : std::uint8_t { here, anywhere };

// The reply to a request that was sent. Belongs to its transport's thread; the transport outlives it.
class PendingReply {
 public:
  virtual ~PendingReply() = default;

  // What can be told without waiting.
  struct Poll {
    std::optional<Reply> reply = {};
    bool waits = false;  // without a reply: whether one may come by and by, or only `finish` can tell
  };
  // Other messages that have come go to the inbox.
  virtual Result<Poll> poll() = 0;
  // Until there may be more to poll. What ended it otherwise, the next poll says.
  virtual Task<net::Waited> wait() = 0;
  // Ends that.
  virtual void stop_waiting() = 0;
  // Moves the end of its time, counted from now.
  virtual void set_deadline(std::chrono::milliseconds from_now) = 0;
  // Whether the server has said all it had to say.
  virtual bool is_all_here() const = 0;

  // As `Transport::exchange`, from where it stands. Deadlines are the caller's again.
  virtual Task<Result<Reply>> finish() = 0;
};

// One way to reach a server. Belongs to one thread; `close` must have ended before it is destroyed. Requests
// run side by side. Cancelling a coroutine that awaits `exchange` closes the request's own stream where it
// has one; whether the server must also be told is the caller's knowledge.
class Transport {
 public:
  virtual ~Transport() = default;

  // Connects, where there is a connection of its own to make.
  virtual Task<Result<>> start() = 0;
  // False once such a connection is lost: the transport is of no more use then.
  virtual bool usable() const = 0;

  // Ends with the answer to the request; notifications and requests that arrive before go to the inbox.
  // Deadlines are the caller's.
  virtual Task<Result<Reply>> exchange(const Outgoing& request) = 0;
  // The beginning of that, where it needs no waiting; null where it does, and nothing was sent then. The reply is to be
  // there within the time, unless `finish` is called.
  virtual std::shared_ptr<PendingReply> try_exchange(const Outgoing& /*request*/, std::chrono::milliseconds /*time*/,
                                                     Stay /*stay*/) {
    return nullptr;
  }
  // Sends what has no answer. An HTTP refusal is an error.
  virtual Task<Result<>> send(const Outgoing& message) = 0;

  // What was negotiated, for headers and rules that depend on it.
  virtual void speak(mcp::Version version) = 0;
  // Forgets the session, so that another can be initialized.
  virtual void forget_session() {}
  // Goes on with a session of another process; false where there is no such thing.
  virtual bool resume_session(const HttpSession& /*session*/) { return false; }
  bool has_session() const { return !session().empty(); }
  // The id that a server keeps a session under; empty for none.
  virtual std::string_view session() const { return {}; }
  // Whether a server of the legacy era can tell this one's requests from those of others, and so keep something.
  virtual bool keeps_session() const { return true; }

  // Reads the stream a server of the legacy era sends on by itself, and resumes it. Ends where that is not
  // offered (`unsupported`), where the session is gone (`not_found`) or where it cannot be kept up.
  // `on_open` is called each time it was opened and something may have been missed before.
  virtual Task<Result<>> listen(std::function<void()> on_open) = 0;

  // Whether headers are sent, and mirrored parameters with them.
  virtual bool has_headers() const = 0;
  // Whether a request has a stream of its own, whose end the server notices.
  virtual bool has_streams() const = 0;

  // Ends the session where there is one, and every connection. Exchanges under way fail.
  virtual Task<> close() = 0;
};

}  // namespace proteus::client
