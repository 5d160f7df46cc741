#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log/stranger_log.hpp"
#include "base/secrets/epoch.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task.hpp"
#include "client/message/authorizer.hpp"
#include "client/message/facts.hpp"
#include "client/message/handlers.hpp"
#include "client/message/listing.hpp"
#include "client/message/start_places.hpp"
#include "client/message/transport.hpp"
#include "json/message.hpp"
#include "mcp/meta.hpp"
#include "mcp/notifications.hpp"
#include "mcp/reply.hpp"
#include "net/http/url.hpp"
#include "net/process/process.hpp"

namespace proteus::client {

// The URL of a server, or the program to run.
using Endpoint = std::variant<net::Url, net::Command>;

// The transport to use with a URL. A program has only one.
enum class TransportChoice : std::uint8_t { automatic, streamable_http, old_sse };

struct Limits {
  std::size_t message_bytes = std::size_t{16} << 20U;
  ListLimits lists;
  std::size_t requests = 1024;       // our requests under way at once
  std::size_t server_requests = 16;  // questions of the server open at once; more are refused
  int input_rounds = 16;             // times that a server may ask for input during one request
};

// A log message of the server. The views hold during the callback.
struct LogEntry {
  mcp::LogLevel level{};
  std::string logger;
  std::string_view data;  // any JSON, as written
};

// A change that a server announced, or a change of the stream that carries announcements.
struct Announcement {
  enum class Kind : std::uint8_t {
    tools,
    prompts,
    resources,
    resource,     // the resource `uri` was updated
    interrupted,  // the stream broke; nothing is announced until `reopened`
    reopened,     // the stream is open again; anything may have changed meanwhile
    ended,        // nothing is announced any more, until `Connection::listen` is called again
  };
  Kind kind{};
  std::string uri = {};
};

// What another connection has learned about a server.
struct KnownServer {
  std::shared_ptr<const ServerFacts> facts;  // null if nothing is known
  bool old_sse = false;
};

// A session with a legacy server that another process began, and what the server offers in it.
struct ResumedSession {
  HttpSession session;
  std::string capabilities = "{}";  // as the server wrote them
};

// Whose requests a connection carries. Decides who receives what a legacy server sends outside of a request's stream.
enum class Owner : std::uint8_t {
  everybody,  // many callers: nobody receives it
  session,    // one client session: the only request under way, or `on_unclaimed`; the connection's handler gives roots
  caller,     // one caller: a request under way that wants it; questions for roots wait until there is a request
  strangers,  // callers that cannot be told apart: as for `caller`, but only if a single request is under way
};

struct Options {
  std::string client_info = R"({"name":"proteus","version":"0.1.0"})";  // an Implementation object

  // The era to speak; found out if not given.
  std::optional<mcp::Era> era;
  TransportChoice transport = TransportChoice::automatic;
  // Tried first. If it proves wrong, the connection finds out era and transport again.
  KnownServer known;
  // A session to continue, instead of a handshake; needs a new `epoch`. If the server no longer knows the session, the
  // connection begins a new one.
  std::optional<ResumedSession> resumed;

  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{30'000};        // of a request
  std::chrono::milliseconds call_timeout{300'000};  // of a tool call
  int progress_extension = 10;                      // progress may extend a request to this many time-outs in all
  // Silence after which a program is also asked in the legacy era; its first answer decides (ADR 13).
  std::chrono::milliseconds probe_timeout{5'000};
  std::chrono::milliseconds handler_timeout{300'000};
  // Longest wait for a legacy server's own stream before a request is sent during which the server may ask there.
  std::chrono::milliseconds stream_wait{1'000};
  // Delay before a broken stream is reopened if the server gave none; doubles up to the maximum.
  std::chrono::milliseconds reconnect_delay{1'000};
  std::chrono::milliseconds max_reconnect_delay{60'000};
  net::Grace grace;  // time that a program gets to exit
  // Limits how many programs start at a time. Applies only while nothing is known of the server; may be null.
  std::shared_ptr<StartPlaces> start_places;
  // Called before a program is started, which may fail or wait. Its result is kept while the program runs. Empty if the
  // program may always run.
  std::function<Task<Result<std::shared_ptr<void>>>()> admit_program;

  // Part of the ids of requests in a session, so that another process may continue the session; see Epoch.
  Epoch epoch = 0;
  // Whether listening succeeds at a legacy server that has no stream of its own. Its announcements then arrive with
  // answers to requests, or not at all.
  bool hear_in_answers = false;

  Limits limits;
  // Threads that read long lists and messages; must outlive the connection. Null to read them on the connection's
  // thread.
  BackgroundThreads* background = nullptr;
  std::vector<Header> headers;             // sent with every HTTP request
  std::shared_ptr<Authorizer> authorizer;  // may be empty
  Handlers handlers;
  // The callers of this connection. Unless they are `everybody`, and if there is a handler for roots, a legacy server's
  // first questions for roots are answered before a request is sent that may act on them (ADR 12).
  Owner owner = Owner::everybody;

  // Callbacks, called on the connection's thread. They must not block.
  std::function<void(const Announcement&)> on_announcement;
  std::function<void(const LogEntry&)> on_log;
  std::function<void(const json::Message&)> on_notification;  // for every notification, before other callbacks
  // Called for notifications that belong to no request under way: log messages, completed elicitations, and those that
  // the specification does not define.
  std::function<void(const json::Message&)> on_unclaimed;
  // Called when era and version were agreed on; in the legacy era, when a session begins. Later requests use them.
  std::function<void(const ServerFacts&)> on_agreed;
  // Called when the server says that it does not know our session: its state is lost. The request did not run.
  std::function<void()> on_session_lost;
  // Called when a program that was taken to be legacy because it was silent turns out to be modern. Later requests use
  // the modern era.
  std::function<void()> on_era_corrected;
  std::function<void(std::string_view line)> on_stderr_line;  // for programs; lines are logged if it is empty

  // The log for lines that the server causes; never null. Connections to one server share it.
  std::shared_ptr<StrangerLog> log = std::make_shared<StrangerLog>("the server");
};

// Whether our handlers answer a modern server's request for input, or the caller gets it as the answer.
enum class Inputs : std::uint8_t { answer, hand_back };

struct RequestOptions {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> list_timeout;  // for all pages of a list; by default four time-outs
  // If set, the request asks for progress, which extends the time-out.
  std::function<void(const mcp::Progress&)> on_progress;
  // Asks for progress without `on_progress`: `on_notification` receives it.
  bool progress = false;
  bool wants_progress() const { return progress || on_progress; }
  // Receives the log messages of this request. The request asks a modern server for those of `log_level` and above; a
  // legacy server needs `Connection::set_log_level`.
  std::function<void(const LogEntry&)> on_log;
  std::optional<mcp::LogLevel> log_level;
  // Called for each notification that belongs to this request, unchanged.
  std::function<void(const json::Message&)> on_notification;

  std::string meta;             // more members of `_meta`, as JSON text without braces; none of the protocol's own
  std::vector<Header> headers;  // more headers, if the transport has headers
  // The credentials to use instead of the connection's; null for the connection's.
  std::shared_ptr<Authorizer> authorizer;
  // The era that the request was written for, if that matters: it is not sent to a server of the other era, but fails
  // as `unreachable`.
  std::optional<mcp::Era> era;
  int refused_before = 0;  // times that the server has refused its credentials
  Inputs inputs = Inputs::answer;
  std::shared_ptr<const Handlers> handlers;  // used and declared instead of the connection's
  // Makes the handlers when they are needed: few legacy servers ask anything.
  std::function<std::shared_ptr<const Handlers>()> make_handlers;
  bool has_handlers() const { return handlers || make_handlers; }
  std::shared_ptr<const Handlers> own_handlers() const { return make_handlers ? make_handlers() : handlers; }

  // The capabilities to declare to a modern server, as a JSON object; empty for those of the handlers.
  std::string capabilities;
};

// The `params` of a request.
struct Params {
  std::string name;      // name of the tool or prompt, or the URI, decoded; empty if the method has none
  mcp::Payload members;  // the inside of the object, with the name and without `_meta`
};

}  // namespace proteus::client
