#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <proteus/client_auth.hpp>
#include <proteus/error.hpp>

// A client for MCP servers of either era, over HTTP or standard streams. Calls block; anything that can fail returns a
// Result. This header needs no coroutines, so any C++23 compiler works, including g++ 12.
namespace proteus::client {

// The two ways in which MCP works: with a handshake and sessions (2025-11-25 and before), or with everything in each
// request (2026-07-28).
enum class Era : std::uint8_t { legacy, modern };

// The HTTP transport of a server; `automatic` detects it.
enum class HttpTransport : std::uint8_t { automatic, streamable_http, old_sse };

// The definitions that a server offers. `definition` holds all members, including unknown ones; the other fields repeat
// the usual ones.
struct Tool {
  std::string name;
  std::string title;        // may be empty
  std::string description;  // may be empty
  boost::json::object definition;

  // Returns the JSON Schema of the arguments; an empty object if there is none.
  boost::json::object input_schema() const;
};
struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  boost::json::object definition;
};
struct Resource {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  boost::json::object definition;
};
struct ResourceTemplate {
  std::string uri_template;
  std::string name;
  std::string title;
  std::string description;
  boost::json::object definition;
};

// What a server says about itself; not to be trusted.
struct ServerInfo {
  Era era{};
  std::string protocol_version;
  std::string name;
  std::string version;
  std::string instructions;
  boost::json::object capabilities;
};

// A change of the definitions that a server offers.
struct Change {
  enum class Kind : std::uint8_t { tools, prompts, resources, resource_templates };
  // A changed definition that may break clients that know only the old one, with the reasons in words.
  struct Breaking {
    std::string name;
    std::vector<std::string> reasons;
  };

  Kind kind{};
  // Names, URIs or URI templates.
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  std::vector<Breaking> breaking = {};  // the entries of `changed` that are not compatible
  std::string server = {};              // the server's URL, or the program that is run
};

// The result of reading all lists of a server once.
struct RefreshResult {
  std::chrono::system_clock::time_point at;
  std::chrono::milliseconds duration{};
  std::optional<Error> error;  // also if only some lists could be read; `changes` covers those
  std::vector<Change> changes;

  bool ok() const { return !error.has_value(); }
};

// The state of a server: `degraded` after a failed reading, `failed` after several in a row. What was read last remains
// available in both.
enum class ServerState : std::uint8_t { closed, connecting, connected, degraded, failed };

// Whether requests are sent. After several failures in a row the circuit is open: requests fail at once, and nothing is
// sent. After a while it is half open and sends one request; if that succeeds, the circuit closes.
enum class Circuit : std::uint8_t { closed, open, half_open };

// What was counted since `open`.
struct Counters {
  std::uint64_t requests = 0;          // calls, prompts, reads and completions that were sent
  std::uint64_t failed_requests = 0;   // sent requests that returned an Error
  std::uint64_t refused_requests = 0;  // not sent, because the circuit was open
  std::uint64_t refreshes = 0;         // successful readings of the lists
  std::uint64_t failed_refreshes = 0;
  std::uint64_t announcements = 0;  // changes that the server announced
};

struct Progress {
  double progress = 0;
  std::optional<double> total;
  std::string message;
};

struct LogMessage {
  std::string level;
  std::string logger;
  boost::json::value data;
};

struct CallOptions {
  // Replaces the server's timeout; progress extends it, up to tenfold.
  std::optional<std::chrono::milliseconds> timeout = {};
  // Called on the calling thread, before the call returns. If it throws, the call throws the exception when it has
  // ended.
  std::function<void(const Progress&)> on_progress = {};
  boost::json::object meta = {};  // members for `_meta`
};

// The result of a tool call. `is_error` means that the tool ran and failed; that is not an Error.
struct ToolResult {
  bool is_error = false;
  boost::json::object value;  // the whole result

  // Returns the text blocks, separated by line feeds.
  std::string text() const;
};

struct Elicitation {
  std::string message;
  boost::json::object requested_schema;  // for a form
  std::string url;                       // for an elicitation by URL: show it and its host before opening it
  boost::json::object params;            // the whole `params`
};
struct ElicitationAnswer {
  enum class Action : std::uint8_t { accept, decline, cancel };
  Action action = Action::decline;
  // For a form. Missing members get the schema's defaults.
  boost::json::object content = {};
};

struct Root {
  std::string uri;
  std::string name = {};
};

// Handlers run one at a time on a dedicated thread, so they may block, may call the server, and may close and open it.
// They must not wait for another handler. If they are too slow, so that too much waits for them, further log messages
// and changes are dropped, which is logged, and further questions are refused.
using ElicitationHandler = std::function<ElicitationAnswer(const Elicitation&)>;
using SamplingHandler = std::function<Result<boost::json::object>(const boost::json::object& params)>;
using RootsHandler = std::function<std::vector<Root>()>;
using ChangeListener = std::function<void(const Change&)>;

// A connection to one MCP server. Thread-safe. Runs one thread for input and output, from `open` to `close`, and one
// for handlers if there are any. Movable. The destructor closes the connection; a handler must not destroy it.
class McpServer {
 public:
  class Builder;

  // Returns a builder for a server at this http or https URL, or, without a URL, for a program (`Builder::command`).
  static Builder builder(std::string url = {});
  // Returns a builder with the settings of a `descriptor`. Fails if anything in it is not understood, and lists
  // every fault.
  static Result<Builder> from_descriptor(const boost::json::object& descriptor);

  McpServer(McpServer&&) noexcept;
  McpServer& operator=(McpServer&&) noexcept;
  ~McpServer();

  // Connects, detects the server's era and reads its lists. Does nothing if already open. With
  // `fail_fast_on_startup(false)`, a server that cannot be reached is no error: the connection is retried in the
  // background. Fails with kind `conflict` in a handler while another thread opens the connection.
  Result<> open();
  // Ends the session and everything under way. In a handler or another callback, does not wait for the end: calls under
  // way, and the handler's own question, end as cancelled.
  void close();
  bool is_open() const;

  Result<ServerInfo> info() const;

  // Returns what the server offers, as of the last reading: by `open`, after an announced change, on a timer or on
  // request. An error if it was never read. With a `ttl`, the first use after that time reads the lists again and waits
  // for that.
  Result<std::vector<Tool>> tools() const;
  Result<Tool> tool(const std::string& name) const;
  Result<std::vector<Prompt>> prompts() const;
  Result<std::vector<Resource>> resources() const;
  Result<std::vector<ResourceTemplate>> resource_templates() const;

  Result<ToolResult> call_tool(const std::string& name, const boost::json::object& arguments = {},
                               const CallOptions& options = {});
  // Returns the whole result: `messages` and more.
  Result<boost::json::object> get_prompt(const std::string& name,
                                         const std::map<std::string, std::string>& arguments = {},
                                         const CallOptions& options = {});
  // Returns the whole result: `contents` and more.
  Result<boost::json::object> read_resource(const std::string& uri, const CallOptions& options = {});
  // Returns values for an argument of a prompt (`{"type":"ref/prompt","name":…}`) or of a template
  // (`{"type":"ref/resource","uri":…}`).
  Result<std::vector<std::string>> complete(const boost::json::object& reference, const std::string& argument,
                                            const std::string& value, const CallOptions& options = {});
  // Fails if the server does not answer.
  Result<> ping();

  // Adds a listener that is called after each change, on the handlers' thread. May be called before `open`.
  void add_change_listener(ChangeListener listener);

  // Reads all lists now, and returns what has changed since the last reading.
  RefreshResult refresh_now();
  // Reads all lists every `refresh_interval`, give or take a tenth, for the first time after one interval. Idempotent.
  void start_auto_refresh();
  void stop_auto_refresh();
  bool is_auto_refresh_running() const;
  // Returns the time of the last reading without an error; nothing before the first.
  std::optional<std::chrono::system_clock::time_point> last_refresh_time() const;
  ServerState state() const;
  // Returns why the state is not `connected`; nothing if it is.
  std::optional<Error> last_error() const;
  Circuit circuit() const;
  Counters counters() const;

  // Returns the settings as JSON: no handlers, no runtime state, and no secrets. Credentials from the environment
  // appear as the names of their variables; credentials that were given as text must be set again. Variables of a
  // program's environment appear by name only. Headers that are known to carry credentials and `list_meta`, which may
  // carry some, are left out.
  boost::json::object descriptor() const;

 private:
  struct Settings;
  class State;
  explicit McpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Makes an McpServer. A comment gives the default after a colon.
class McpServer::Builder {
 public:
  explicit Builder(std::string url);
  Builder(const Builder&);
  Builder(Builder&&) noexcept;
  Builder& operator=(const Builder&);
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  // Runs a program instead of connecting to a URL: its name or path, and its arguments. No shell is involved.
  Builder& command(std::vector<std::string> argv);
  // Adds variables to the program's environment, beyond the usual ones.
  Builder& environment(std::map<std::string, std::string> variables);
  Builder& working_directory(std::string path);

  Builder& auth(Auth credentials);
  Builder& header(std::string name, std::string value);
  // Sets a PEM file with the certificate authorities to trust, instead of the system's.
  Builder& ca_file(std::string path);

  Builder& timeout(std::chrono::milliseconds duration);          // for everything but tool calls: 30 s
  Builder& call_timeout(std::chrono::milliseconds duration);     // for a tool call: 5 min
  Builder& connect_timeout(std::chrono::milliseconds duration);  // 5 s
  Builder& era(Era era);                                         // found out
  Builder& http_transport(HttpTransport transport);              // found out
  Builder& client_info(std::string name, std::string version);
  Builder& max_message_bytes(std::size_t bytes);  // 16 MiB

  // Whether `open` fails if the server cannot be reached: true.
  Builder& fail_fast_on_startup(bool fail);
  // Whether all lists are read again on a timer from `open` on: false; and how often: 5 min.
  Builder& auto_refresh(bool on);
  Builder& refresh_interval(std::chrono::milliseconds interval);
  // Whether lists are read again when the server announces a change: true. While the server cannot announce, they are
  // read every `refresh_interval`.
  Builder& event_driven_refresh(bool on);
  // If above zero, which is not the default, nothing is read in the background; instead, the first use after this time
  // reads the lists.
  Builder& ttl(std::chrono::milliseconds duration);
  // How long the server may be silent before a cheap request checks that it is there: 30 s.
  Builder& health_interval(std::chrono::milliseconds interval);
  // Failed readings in a row before the state is `failed`: 3.
  Builder& max_consecutive_failures(unsigned failures);
  // Failed requests in a row before the circuit opens: 5; and how long it stays open: 30 s.
  Builder& circuit_failures(unsigned failures);
  Builder& circuit_open(std::chrono::milliseconds duration);
  // Members for the `_meta` of every list request: none.
  Builder& list_meta(boost::json::object members);

  Builder& on_elicitation(ElicitationHandler handler);      // for forms
  Builder& on_url_elicitation(ElicitationHandler handler);  // for URLs
  Builder& on_sampling(SamplingHandler handler);
  Builder& on_roots(RootsHandler handler);
  Builder& on_log(std::function<void(const LogMessage&)> handler);

  // Does not connect; `open` reports unusable settings.
  McpServer build() const;

 private:
  friend class McpServer;
  std::unique_ptr<Settings> settings_;
};

}  // namespace proteus::client
