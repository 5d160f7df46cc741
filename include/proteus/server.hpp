#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <proteus/error.hpp>

// A library for writing MCP servers. A server speaks both eras of the protocol at once, over Streamable HTTP and over
// stdio; handlers do not see which.
//
//   proteus::server::Server server({.name = "greeter", .version = "1.0"});
//   server.add_tool({.name = "greet", .description = "Says hello"}, [](Context& context) -> Outcome<ToolResult> {
//     return ToolResult::text("Hello, " + std::string(context.principal()));
//   });
//   auto port = server.listen({.port = 8080});
//   server.wait();
//
// Plain handlers work with any C++23 compiler. Coroutine handlers are in <proteus/server_async.hpp>.
namespace proteus::server {

class Call;

// One content block of a tool's result or a prompt's message.
class Content {
 public:
  static Content text(std::string_view text);
  static Content image(std::string_view base64, std::string_view mime_type);
  static Content audio(std::string_view base64, std::string_view mime_type);
  static Content embedded_text(std::string_view uri, std::string_view mime_type, std::string_view text);
  static Content embedded_blob(std::string_view uri, std::string_view mime_type, std::string_view base64);
  static Content link(std::string_view uri, std::string_view name);
  // Makes any other block that the protocol defines.
  explicit Content(boost::json::object block) : block_(std::move(block)) {}

  boost::json::object& json() { return block_; }
  const boost::json::object& json() const { return block_; }

 private:
  boost::json::object block_;
};

struct ToolResult {
  std::vector<Content> content{};
  std::optional<boost::json::value> structured{};  // must fit the tool's output schema, if it has one
  bool is_error = false;                           // the tool ran and failed; `content` tells the model why
  boost::json::object meta{};

  static ToolResult text(std::string_view text);
  static ToolResult error(std::string_view text);
  // Returns structured content, and the same as text for clients that know only text.
  static ToolResult json(boost::json::value value);
};

struct PromptMessage {
  enum class Role : std::uint8_t { user, assistant };
  Role role = Role::user;
  Content content;
};

struct PromptResult {
  std::string description{};
  std::vector<PromptMessage> messages{};
};

struct ResourceContents {
  std::string uri{};
  std::string mime_type{};
  std::string text{};  // either `text` or `base64`
  std::string base64{};
};

struct ResourceResult {
  std::vector<ResourceContents> contents{};
  std::chrono::milliseconds ttl{0};  // how long a client may cache it
  bool same_for_everyone = false;
};

// A request for input, with questions under keys of the handler's choice. The client is asked, and the handler runs
// again from its beginning, with the answers in `Context::answer`. Work that must not be done twice belongs behind the
// last question.
class Ask {
 public:
  // Asks the user to fill in a form; `schema` describes a flat object.
  Ask& elicit(std::string key, std::string_view message, boost::json::object schema);
  // Asks the user to open a page.
  Ask& elicit_url(std::string key, std::string_view message, std::string_view url);
  // Asks for a completion by the client's model; `params` as in sampling/createMessage.
  Ask& sample(std::string key, boost::json::object params);
  Ask& roots(std::string key);
  // Keeps `state` for the next round, as Context::state(). The client cannot read or change it.
  Ask& remember(std::string state);

  enum class Kind : std::uint8_t { elicitation, sampling, roots };
  struct Question {
    std::string key;
    Kind kind;
    boost::json::object params;
  };
  const std::vector<Question>& questions() const { return questions_; }
  const std::string& state() const { return state_; }

 private:
  std::vector<Question> questions_;
  std::string state_;
};

// What a handler returns: the result, a request for input, or a protocol error. A tool that fails at its work returns
// ToolResult::error instead.
template <class T>
class Outcome {
 public:
  Outcome() = default;                                // an empty result
  Outcome(T result) : value_(std::move(result)) {}    // NOLINT(google-explicit-constructor)
  Outcome(Ask ask) : value_(std::move(ask)) {}        // NOLINT(google-explicit-constructor)
  Outcome(Error error) : value_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  std::variant<T, Ask, Error>& value() { return value_; }

 private:
  std::variant<T, Ask, Error> value_;
};

enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

struct ClientFeatures {
  bool elicitation = false;
  bool url_elicitation = false;
  bool sampling = false;
  bool roots = false;
};

// One request, as its handler sees it. Valid until the handler ends; use it only on the handler's thread.
class Context {
 public:
  explicit Context(Call& call);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  std::string_view name() const;  // of the tool or prompt; the URI of a resource
  const boost::json::object& arguments() const;
  std::string_view raw_arguments() const;  // JSON text
  // Returns one argument as JSON text without reading the others; empty if there is none.
  std::string_view raw_argument(std::string_view key) const;
  const boost::json::object& meta() const;                 // the request's `_meta`; empty if there is none
  std::string_view raw_meta() const;                       // `_meta` as JSON text
  std::string_view variable(std::string_view name) const;  // of a resource template
  std::string_view principal() const;                      // the caller; empty: anonymous
  ClientFeatures client() const;

  // Returns the client's answer to a question of an earlier round; null if it was not asked or not answered.
  const boost::json::object* answer(std::string_view key) const;
  std::string_view state() const;

  // Progress and log messages reach the client only if it requested them.
  void progress(double done, std::optional<double> total = std::nullopt, std::string_view message = {});
  void log(LogLevel level, const boost::json::value& data, std::string_view logger = {});

  // Lets a legacy HTTP client disconnect and reconnect for the result; does nothing for other clients.
  void release_connection(std::chrono::milliseconds retry);

  Call& call() const { return call_; }
  void set_variables(std::vector<std::pair<std::string, std::string>> variables);

 private:
  struct Parsed;
  Parsed& parsed() const;
  Call& call_;
  mutable std::unique_ptr<Parsed> parsed_;
};

// Decides whether a request may see a definition. A hidden definition is not listed, and a request for it fails as if
// it did not exist. The decision must depend on the request only, so that it is the same on every connection. Called
// often and on any of the server's threads; must not block. If it throws, the definition is hidden.
//
// If any definition of a list has a Visibility, clients are asked not to cache the list. `Server::tools_changed`
// notifies a principal's clients that the decision has changed.
using Visibility = std::function<bool(const Context&)>;

struct Tool {
  std::string name;
  std::string title{};
  std::string description{};
  boost::json::object input_schema{{"type", "object"}};
  std::optional<boost::json::object> output_schema{};
  boost::json::object annotations{};
  boost::json::object more{};  // other members, such as icons and _meta
  Visibility visible{};        // empty: everyone
};

struct PromptArgument {
  std::string name;
  std::string description{};
  bool required = false;
};

struct Prompt {
  std::string name;
  std::string title{};
  std::string description{};
  std::vector<PromptArgument> arguments{};
  boost::json::object more{};
  Visibility visible{};  // empty: everyone
};

struct Resource {
  std::string uri;
  std::string name;
  std::string title{};
  std::string description{};
  std::string mime_type{};
  boost::json::object more{};
  Visibility visible{};  // empty: everyone
};

// `uri_template` contains variables such as {id}, which match one segment, or {+path}, which match several.
struct ResourceTemplate {
  std::string uri_template;
  std::string name;
  std::string title{};
  std::string description{};
  std::string mime_type{};
  boost::json::object more{};
  Visibility visible{};  // empty: everyone
};

struct Completion {
  std::vector<std::string> values{};  // at most 100 are sent
  std::optional<std::size_t> total{};
  bool has_more = false;
};

struct CompletionRequest {
  std::string_view argument;
  std::string_view value;  // what the user has typed so far
  boost::json::object context{};
};

using ToolHandler = std::function<Outcome<ToolResult>(Context&)>;
// Returns the whole result object as JSON text. Neither arguments nor results are validated.
using RawToolHandler = std::function<Outcome<std::string>(Context&)>;
using PromptHandler = std::function<Outcome<PromptResult>(Context&)>;
using ResourceHandler = std::function<Outcome<ResourceResult>(Context&)>;
using CompletionHandler = std::function<Completion(const CompletionRequest&)>;

struct ServerInfo {
  std::string name;
  std::string version;
  std::string title{};
  std::string description{};
  std::string website{};
  std::string instructions{};  // for the model
};

struct ServerOptions {
  bool legacy = true;  // speak 2024-11-05 to 2025-11-25
  bool modern = true;  // speak 2026-07-28
  // Whether a capability is declared even while there is no definition of its kind.
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::size_t page_size = 1000;
  std::chrono::milliseconds list_ttl{0};  // how long a modern client may cache a list
  // Seals the state that travels through clients; the same on all replicas of a server. Empty: random for this process.
  std::string secret{};
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  std::string path = "/mcp";
  std::string old_sse_path{};  // path of the HTTP+SSE transport of 2024-11-05; empty: not served
  std::size_t threads = 1;
  std::size_t max_body = std::size_t{4} << 20U;
  std::vector<std::string> allowed_origins{};  // on a loopback address, loopback origins are always allowed
  std::vector<std::string> allowed_hosts{};
  std::string certificate{};  // PEM files; both or none
  std::string key{};
  // Returns the principal for the value of Authorization (empty if absent), or an error, which becomes 401 (`not_found`
  // becomes 404).
  std::function<Result<std::string>(std::string_view authorization)> authenticate{};
  std::chrono::milliseconds grace{10'000};  // for running requests at `stop`
};

// Thread-safe: all functions may be called at any time, also while clients are connected, which are notified of changed
// lists. Handlers run on the server's threads, several at a time; a plain handler that blocks also blocks other
// requests.
class Server {
 public:
  explicit Server(ServerInfo info, ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Adds a definition, or replaces the one of the same name. Fails with the reason if the definition is not usable.
  Result<> add_tool(Tool tool, ToolHandler handler);
  Result<> add_raw_tool(Tool tool, RawToolHandler handler);
  Result<> add_prompt(Prompt prompt, PromptHandler handler);
  Result<> add_resource(Resource resource, ResourceHandler handler);
  Result<> add_resource_template(ResourceTemplate resource_template, ResourceHandler handler);
  // Completes an argument of a prompt, or a variable of a template, which is given by its text.
  void add_completion(std::string prompt_or_template, std::string argument, CompletionHandler handler);

  // Returns false if there was none.
  bool remove_tool(std::string_view name);
  bool remove_prompt(std::string_view name);
  bool remove_resource(std::string_view uri);
  bool remove_resource_template(std::string_view uri_template);

  // Notifies the clients of one principal that they see other tools now; "" means anonymous clients.
  void tools_changed(std::string_view principal);

  // Notifies the subscribers of a resource that its contents have changed.
  void resource_updated(std::string_view uri);

  // Starts to serve in the background, and returns the port.
  Result<std::uint16_t> listen(HttpOptions options = {});
  // Serves one client on standard input and output until its input has ended and is answered, or until `stop`.
  Result<> serve_stdio();
  // Blocks until `stop` is called.
  void wait();
  // Lets running HTTP requests finish within `grace`, ends streams in good order, and returns when that is done. Also
  // ends `wait` and `serve_stdio`.
  void stop();

  class Core;
  Core& core() { return *core_; }

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace proteus::server
