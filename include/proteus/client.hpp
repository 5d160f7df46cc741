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

// A client for MCP servers of either era, over HTTP or standard streams. Calls block; anything that can fail
// returns a Result. Nothing here needs coroutines, so any C++23 compiler will do, g++ 12 included.
namespace proteus::client {

// The two ways MCP works: with a handshake and sessions (2025-11-25 and before), or with everything in each
// request (2026-07-28).
enum class Era : std::uint8_t { legacy, modern };

// Which HTTP transport a server is spoken to with; found out unless given.
enum class HttpTransport : std::uint8_t { automatic, streamable_http, old_sse };

// Each has its whole definition, unknown members included, and the usual ones at hand.
struct Tool {
  std::string name;
  std::string title;        // may be empty
  std::string description;  // may be empty
  boost::json::object definition;

  // The JSON Schema of the arguments; an empty object where there is none.
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

// A change of what a server has.
struct Change {
  enum class Kind : std::uint8_t { tools, prompts, resources, resource_templates };
  // One that may break those who know only what was before, and why, in words.
  struct Breaking {
    std::string name;
    std::vector<std::string> reasons;
  };

  Kind kind{};
  // By name, URI or URI template.
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  std::vector<Breaking> breaking = {};  // those of `changed` that are not compatible
  std::string server = {};              // its URL, or the program that is run
};

// One reading of everything a server has.
struct RefreshResult {
  std::chrono::system_clock::time_point at;
  std::chrono::milliseconds duration{};
  std::optional<Error> error;  // nothing changed then
  std::vector<Change> changes;

  bool ok() const { return !error.has_value(); }
};

// How a server is: `degraded` after a reading that failed, `failed` after several in a row. What it had when it was
// last read is there all the same.
enum class ServerState : std::uint8_t { closed, connecting, connected, degraded, failed };

// Whether requests are sent. After several failures in a row the circuit is open: requests fail at once, and nothing is
// sent. After a while it is half open and sends one request; if that succeeds the circuit closes.
enum class Circuit : std::uint8_t { closed, open, half_open };

// What was counted since `open`.
struct Counters {
  std::uint64_t requests = 0;          // calls, prompts, reads and completions that were sent
  std::uint64_t failed_requests = 0;   // of those, the ones that returned an Error
  std::uint64_t refused_requests = 0;  // not sent, because the circuit was open
  std::uint64_t refreshes = 0;         // successful readings of the lists
  std::uint64_t failed_refreshes = 0;
  std::uint64_t announcements = 0;  // of changed lists, by the server
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
  // Instead of the server's; progress extends it, up to ten times.
  std::optional<std::chrono::milliseconds> timeout = {};
  // Called on the calling thread, before the call returns.
  std::function<void(const Progress&)> on_progress = {};
  boost::json::object meta = {};  // goes into `_meta`
};

// What a tool answered. `is_error` means that the tool ran and failed; that is no Error.
struct ToolResult {
  bool is_error = false;
  boost::json::object value;  // the whole result

  // The text blocks, one after the other.
  std::string text() const;
};

struct Elicitation {
  std::string message;
  boost::json::object requested_schema;  // of a form
  std::string url;                       // of an elicitation by URL: show it and its host before opening it
  boost::json::object params;            // all of it
};
struct ElicitationAnswer {
  enum class Action : std::uint8_t { accept, decline, cancel };
  Action action = Action::decline;
  // Of a form; what it leaves out gets the schema's defaults.
  boost::json::object content = {};
};

struct Root {
  std::string uri;
  std::string name = {};
};

// Handlers run one at a time on a thread of their own, so they may block, and may call the server. They must
// not wait for another handler.
using ElicitationHandler = std::function<ElicitationAnswer(const Elicitation&)>;
using SamplingHandler = std::function<Result<boost::json::object>(const boost::json::object& params)>;
using RootsHandler = std::function<std::vector<Root>()>;
using ChangeListener = std::function<void(const Change&)>;

// A connection to one MCP server. Safe to use from several threads. Runs one thread for its input and output,
// from `open` to `close`, and one for handlers where there are any. Movable; destroying it closes it, which
// must not be done in a handler.
class McpServer {
 public:
  class Builder;

  // For a server at this URL, http or https; or, without one, for a program (`Builder::command`).
  static Builder builder(std::string url = {});
  // From what `descriptor` gave. Fails where something in it is not understood, naming all of that.
  static Result<Builder> from_descriptor(const boost::json::object& descriptor);

  McpServer(McpServer&&) noexcept;
  McpServer& operator=(McpServer&&) noexcept;
  ~McpServer();

  // Connects, finds out the server's era and lists what it has. Nothing happens if it is open already. With
  // `fail_fast_on_startup(false)` a server that is not there is no error: it is tried again in the background.
  Result<> open();
  // Ends the session and everything under way.
  void close();
  bool is_open() const;

  Result<ServerInfo> info() const;

  // What the server has: as listed by `open`, and again whenever it announced a change or was asked. An error before it
  // was ever listed. With a `ttl`, the first use after it lists again and waits for that.
  Result<std::vector<Tool>> tools() const;
  Result<Tool> tool(const std::string& name) const;
  Result<std::vector<Prompt>> prompts() const;
  Result<std::vector<Resource>> resources() const;
  Result<std::vector<ResourceTemplate>> resource_templates() const;

  Result<ToolResult> call_tool(const std::string& name, const boost::json::object& arguments = {},
                               const CallOptions& options = {});
  // `messages` and more, as the server answers.
  Result<boost::json::object> get_prompt(const std::string& name,
                                         const std::map<std::string, std::string>& arguments = {},
                                         const CallOptions& options = {});
  // `contents` and more.
  Result<boost::json::object> read_resource(const std::string& uri, const CallOptions& options = {});
  // Values for an argument of a prompt (`{"type":"ref/prompt","name":…}`) or template
  // (`{"type":"ref/resource","uri":…}`).
  Result<std::vector<std::string>> complete(const boost::json::object& reference, const std::string& argument,
                                            const std::string& value, const CallOptions& options = {});
  // Whether the server answers.
  Result<> ping();

  // Called after each change, on the handlers' thread. May be added before `open`.
  void add_change_listener(ChangeListener listener);

  // Reads everything now, and says what changed since.
  RefreshResult refresh_now();
  // Reads everything every `refresh_interval`, give or take a tenth, the first time after one. Twice is once.
  void start_auto_refresh();
  void stop_auto_refresh();
  bool is_auto_refresh_running() const;
  // When something was last read without fault; nothing before that.
  std::optional<std::chrono::system_clock::time_point> last_refresh_time() const;
  ServerState state() const;
  // Why the state is not `connected`; nothing where it is.
  std::optional<Error> last_error() const;
  Circuit circuit() const;
  Counters counters() const;

  // The settings as JSON: no handlers, nothing of what happened since, and no secrets. Credentials are there by the
  // name of their environment variable, and must be given again where they were given themselves; so are the variables
  // of a program's environment. `list_meta`, which may carry credentials, is left out.
  boost::json::object descriptor() const;

 private:
  struct Settings;
  class State;
  explicit McpServer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// What is not set has the default that is named.
class McpServer::Builder {
 public:
  explicit Builder(std::string url);
  Builder(const Builder&);
  Builder(Builder&&) noexcept;
  Builder& operator=(const Builder&);
  Builder& operator=(Builder&&) noexcept;
  ~Builder();

  // Runs a program instead: its name or path, and its arguments. No shell is involved.
  Builder& command(std::vector<std::string> argv);
  // More of the program's environment than the usual variables.
  Builder& environment(std::map<std::string, std::string> variables);
  Builder& working_directory(std::string path);

  Builder& auth(Auth credentials);
  Builder& header(std::string name, std::string value);
  // Certificate authorities to trust, as a PEM file, instead of the system's.
  Builder& ca_file(std::string path);

  Builder& timeout(std::chrono::milliseconds duration);          // of everything but tool calls: 30 s
  Builder& call_timeout(std::chrono::milliseconds duration);     // of a tool call: 5 min
  Builder& connect_timeout(std::chrono::milliseconds duration);  // 5 s
  Builder& era(Era era);                                         // found out
  Builder& http_transport(HttpTransport transport);              // found out
  Builder& client_info(std::string name, std::string version);
  Builder& max_message_bytes(std::size_t bytes);  // 16 MiB

  // Whether `open` fails where the server is not there: true.
  Builder& fail_fast_on_startup(bool fail);
  // Whether everything is read again on a timer from `open` on: false; and how often: 5 min.
  Builder& auto_refresh(bool on);
  Builder& refresh_interval(std::chrono::milliseconds interval);
  // Whether lists are read again when the server announces a change: true. While the server cannot announce, they are
  // read every `refresh_interval`.
  Builder& event_driven_refresh(bool on);
  // Above zero: nothing is read in the background; instead, the first use after this time reads the lists. Zero.
  Builder& ttl(std::chrono::milliseconds duration);
  // How long the server may be quiet before a cheap request checks that it is there: 30 s.
  Builder& health_interval(std::chrono::milliseconds interval);
  // Readings in a row that fail before the state is `failed`: 3.
  Builder& max_consecutive_failures(unsigned failures);
  // Requests in a row that fail before the circuit opens: 5; and how long it stays open: 30 s.
  Builder& circuit_failures(unsigned failures);
  Builder& circuit_open(std::chrono::milliseconds duration);
  // Members for the `_meta` of every list request: none.
  Builder& list_meta(boost::json::object members);

  Builder& on_elicitation(ElicitationHandler handler);      // of forms
  Builder& on_url_elicitation(ElicitationHandler handler);  // of URLs
  Builder& on_sampling(SamplingHandler handler);
  Builder& on_roots(RootsHandler handler);
  Builder& on_log(std::function<void(const LogMessage&)> handler);

  // Connects to nothing yet; what is wrong with the settings is said by `open`.
  McpServer build() const;

 private:
  friend class McpServer;
  std::unique_ptr<Settings> settings_;
};

}  // namespace proteus::client
