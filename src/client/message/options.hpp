#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/background_threads.hpp"
#include "base/epoch.hpp"
#include "base/stranger_log.hpp"
#include "base/task.hpp"
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

// Where a server is: at a URL, or a program to run.
using Endpoint = std::variant<net::Url, net::Command>;

// Which transport a URL is spoken to with; a command has only one.
enum class TransportChoice : std::uint8_t { automatic, streamable_http, old_sse };

struct Limits {
  std::size_t message_bytes = std::size_t{16} << 20U;
  ListLimits lists;
  std::size_t requests = 1024;       // of ours, under way at once
  std::size_t server_requests = 16;  // handled at once; more are refused
  int input_rounds = 16;             // times one request may ask for input
};

// A log message of the server; the views hold during the call.
struct LogEntry {
  mcp::LogLevel level{};
  std::string logger;
  std::string_view data;  // any JSON, as written
};

// What a server announced.
struct Announcement {
  enum class Kind : std::uint8_t {
    tools,
    prompts,
    resources,
    resource,     // that of `uri` was updated
    interrupted,  // nothing is announced for now
    reopened,     // it is again: anything may have changed meanwhile
    ended,        // nothing is announced any more, unless it is listened for again
  };
  Kind kind{};
  std::string uri = {};
};

// What was learned about a server on another connection to it.
struct KnownServer {
  std::shared_ptr<const ServerFacts> facts;  // null for nothing
  bool old_sse = false;
};

// A session of a legacy server that another process had, and what the server offers in it.
struct ResumedSession {
  HttpSession session;
  std::string capabilities = "{}";  // as the server wrote them
};

// Whose requests a connection carries. It decides who gets what a legacy server sends outside of a request's stream.
enum class Owner : std::uint8_t {
  everybody,  // nobody gets it
  session,    // one client session: the only request under way, or `on_unclaimed`; roots are the connection's handler's
  caller,     // one caller: a request under way that wants it; roots that are asked for before wait for one
  strangers,  // callers that nobody can tell apart: the same, where only one request is under way
};

struct Options {
  std::string client_info = R"({"name":"proteus","version":"0.1.0"})";  // an Implementation object

  // Found out where not given.
  std::optional<mcp::Era> era;
  TransportChoice transport = TransportChoice::automatic;
  // Tried first; where it proves wrong, it is found out anew.
  KnownServer known;
  // Gone on with, in place of a handshake, with an epoch of its own; where the server does not know it any more, a new
  // one is made.
  std::optional<ResumedSession> resumed;

  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds timeout{30'000};        // of a request
  std::chrono::milliseconds call_timeout{300'000};  // of a tool call
  int progress_extension = 10;                      // at most this many time-outs in all, given progress
  // Silence after which a program is also asked in the legacy era; what it answers first decides.
  std::chrono::milliseconds probe_timeout{5'000};
  std::chrono::milliseconds handler_timeout{300'000};
  // What may be asked about waits so long for the stream on which a legacy server asks, before it is sent.
  std::chrono::milliseconds stream_wait{1'000};
  // Before a broken stream is opened again, where the server did not say; doubles up to the second.
  std::chrono::milliseconds reconnect_delay{1'000};
  std::chrono::milliseconds max_reconnect_delay{60'000};
  net::Grace grace;  // of a program that is to end
  // Where a program waits for its turn to start, as long as nothing is known of it; may be empty.
  std::shared_ptr<StartPlaces> start_places;
  // Asked before a program is started; what it gives is held for as long as the program runs. None: it may always run.
  std::function<Task<Result<std::shared_ptr<void>>>()> admit_program;

  // In the numbers of its requests, where another process could go on with its session.
  Epoch epoch = 0;
  // Whether a request that finds its session forgotten is sent once more, in a new one.
  bool renew_session = true;
  // Whether listening to a legacy server without a stream of its own succeeds: what it announces then comes with
  // answers, or not at all.
  bool hear_in_answers = false;

  Limits limits;
  // Where lists and messages are read that take long; outlives the connection. Null: where they arrive.
  BackgroundThreads* background = nullptr;
  std::vector<Header> headers;             // sent with every HTTP request
  std::shared_ptr<Authorizer> authorizer;  // may be empty
  Handlers handlers;
  // Where it is not `everybody` and roots can be asked for, a legacy server's first questions for them are answered
  // before anything is sent that may act on them.
  Owner owner = Owner::everybody;

  // Called on the connection's thread, and must not block.
  std::function<void(const Announcement&)> on_announcement;
  std::function<void(const LogEntry&)> on_log;
  std::function<void(const json::Message&)> on_notification;  // every one, before all others
  // A log message, or a notification that no specification names, which belongs to no request under way.
  std::function<void(const json::Message&)> on_unclaimed;
  // Requests are made with what was agreed on just now; of the legacy era, in a session.
  std::function<void(const ServerFacts&)> on_agreed;
  // The server said that it does not know our session: what it kept for it is gone. The request did not run.
  std::function<void()> on_session_lost;
  // A program that was taken to be legacy is modern: it was slow to say so. Requests are made in that era from now on.
  std::function<void()> on_era_corrected;
  std::function<void(std::string_view line)> on_stderr_line;  // of a program; logged where empty

  // For what the server makes us say; never null. Connections to one server share it.
  std::shared_ptr<StrangerLog> log = std::make_shared<StrangerLog>("the server");
};

// Whether a modern server's request for input is answered by our handlers, or handed back as the answer.
enum class Inputs : std::uint8_t { answer, hand_back };

struct RequestOptions {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> list_timeout;  // of all pages of a list; four times the other by default
  // Where set, progress is asked for, and extends the time-out.
  std::function<void(const mcp::Progress&)> on_progress;
  // The same without being called: `on_notification` is told.
  bool progress = false;
  bool wants_progress() const { return progress || on_progress; }
  // Where set, log messages of at least this level are asked for; legacy servers need `set_log_level`.
  std::function<void(const LogEntry&)> on_log;
  std::optional<mcp::LogLevel> log_level;
  // Each notification that belongs to this request, as it came.
  std::function<void(const json::Message&)> on_notification;

  std::string meta;             // more members of `_meta`, as JSON text without braces; none of the protocol's
  std::vector<Header> headers;  // more headers, where there are any
  // Whose credentials it carries in place of the connection's; may be empty.
  std::shared_ptr<Authorizer> authorizer;
  // What it was written for, where that matters: a server of the other era is not sent it (`unreachable`).
  std::optional<mcp::Era> era;
  int refused_before = 0;  // times that it was sent and refused for want of credentials
  Inputs inputs = Inputs::answer;
  std::shared_ptr<const Handlers> handlers;  // instead of the connection's, and declared instead of them
  // Makes them where a legacy server asks, which few do: they need not be there before.
  std::function<std::shared_ptr<const Handlers>()> make_handlers;
  bool has_handlers() const { return handlers || make_handlers; }
  std::shared_ptr<const Handlers> own_handlers() const { return make_handlers ? make_handlers() : handlers; }

  // What a modern server is told the client can do, as a JSON object, where that is not what the handlers can.
  std::string capabilities;
};

// The `params` of a request.
struct Params {
  std::string name;      // of the tool or prompt, or the URI, decoded; where the method has one
  mcp::Payload members;  // the inside of the object, that name included, `_meta` not
};

}  // namespace proteus::client
