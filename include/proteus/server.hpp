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

// Write an MCP server. It speaks both eras of the protocol at once, over Streamable HTTP and over stdio; handlers do
// not see which.
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

// One block of content of a tool's result or a prompt's message.
class Content {
 public:
  static Content text(std::string_view text);
  static Content image(std::string_view base64, std::string_view mime_type);
  static Content audio(std::string_view base64, std::string_view mime_type);
  static Content embedded_text(std::string_view uri, std::string_view mime_type, std::string_view text);
  static Content embedded_blob(std::string_view uri, std::string_view mime_type, std::string_view base64);
  static Content link(std::string_view uri, std::string_view name);
  // Any other block, as the protocol defines it.
  explicit Content(boost::json::object block) : block_(std::move(block)) {}

  boost::json::object& json() { return block_; }
  const boost::json::object& json() const { return block_; }

 private:
  boost::json::object block_;
};

struct ToolResult {
  std::vector<Content> content{};
  std::optional<boost::json::value> structured{};  // must fit the tool's output schema, where it has one
  bool is_error = false;                           // the tool ran and failed; the model sees why, in `content`
  boost::json::object meta{};

  static ToolResult text(std::string_view text);
  static ToolResult error(std::string_view text);
  // Structured content, and the same as text for clients that know only that.
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
  std::string text{};  // one of the two
  std::string base64{};
};

struct ResourceResult {
  std::vector<ResourceContents> contents{};
  std::chrono::milliseconds ttl{0};  // how long a reader may keep it
  bool same_for_everyone = false;
};

// A need for input, under keys of the handler's choice. The client is asked, and the handler runs again from its
// beginning, with the answers in `Context::answer`. Work that must not be done twice belongs behind the last question.
class Ask {
 public:
  // A form for the user; `schema` describes a flat object.
  Ask& elicit(std::string key, std::string_view message, boost::json::object schema);
  // A page for the user to open.
  Ask& elicit_url(std::string key, std::string_view message, std::string_view url);
  // A completion by the client's model; `params` as in sampling/createMessage.
  Ask& sample(std::string key, boost::json::object params);
  Ask& roots(std::string key);
  // Handed back in the next round, as Context::state(). The client cannot read or change it.
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

// What a handler returns: the result, a need for input, or an error of the protocol. A tool that fails at its work
// returns ToolResult::error instead.
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

// One request, seen from its handler. Valid until the handler ends; use it on the handler's thread.
class Context {
 public:
  explicit Context(Call& call);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  std::string_view name() const;  // of the tool or prompt; the URI of a resource
  const boost::json::object& arguments() const;
  std::string_view raw_arguments() const;  // JSON text
  // One argument as JSON text, found without reading the others; empty for none.
  std::string_view raw_argument(std::string_view key) const;
  const boost::json::object& meta() const;                 // the request's `_meta`; empty for none
  std::string_view raw_meta() const;                       // the same as JSON text
  std::string_view variable(std::string_view name) const;  // of a resource template
  std::string_view principal() const;                      // who asks; empty: anonymous
  ClientFeatures client() const;

  // What the client answered to a question of an earlier round; null if that was not asked, or not answered.
  const boost::json::object* answer(std::string_view key) const;
  std::string_view state() const;

  // Reports reach the client if it asked for them.
  void progress(double done, std::optional<double> total = std::nullopt, std::string_view message = {});
  void log(LogLevel level, const boost::json::value& data, std::string_view logger = {});

  // Lets a legacy HTTP client disconnect and come back for the result; elsewhere nothing happens.
  void release_connection(std::chrono::milliseconds retry);

  Call& call() const { return call_; }
  void set_variables(std::vector<std::pair<std::string, std::string>> variables);

 private:
  struct Parsed;
  Parsed& parsed() const;
  Call& call_;
  mutable std::unique_ptr<Parsed> parsed_;
};

// Whether the request at hand may know of a definition. Where it may not, the definition is not listed, and asking for
// it is the same as asking for what does not exist. What is judged by is the request itself, so that the answer is the
// same on every connection. Called often and on any of the server's threads; must not block. One that throws says no.
//
// Clients are told not to keep a list in which any definition has one. `Server::tools_changed` announces to a principal
// that it would be answered otherwise now.
using Visibility = std::function<bool(const Context&)>;

struct Tool {
  std::string name;
  std::string title{};
  std::string description{};
  boost::json::object input_schema{{"type", "object"}};
  std::optional<boost::json::object> output_schema{};
  boost::json::object annotations{};
  boost::json::object more{};  // further members, such as icons and _meta
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

// `uri_template` has variables such as {id}, which match one segment, or {+path}, which match several.
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
// Takes no part in validation, and gives the whole result object as JSON text.
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
  // Declared even while there is none of the kind.
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::size_t page_size = 1000;
  std::chrono::milliseconds list_ttl{0};  // how long a modern client may keep a list without asking
  // Seals what travels through clients; the same on all replicas of a server. Empty: made up for this process.
  std::string secret{};
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  std::string path = "/mcp";
  std::string old_sse_path{};  // where the HTTP+SSE transport of 2024-11-05 is served, too; empty: nowhere
  std::size_t threads = 1;
  std::size_t max_body = std::size_t{4} << 20U;
  std::vector<std::string> allowed_origins{};  // loopback ones are allowed on a loopback address
  std::vector<std::string> allowed_hosts{};
  std::string certificate{};  // PEM files; both or none
  std::string key{};
  // Gives the principal for the value of Authorization (empty: there was none), or an error, which becomes 401.
  std::function<Result<std::string>(std::string_view authorization)> authenticate{};
  std::chrono::milliseconds grace{10'000};  // for running requests when stopped
};

// All functions are safe to call from any thread, at any time, also while clients are connected: they are told that a
// list changed. Handlers run on the server's threads, several at a time; a plain handler that blocks, blocks others.
class Server {
 public:
  explicit Server(ServerInfo info, ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Adds, or replaces what has that name. Fails where the definition is not usable, and says why.
  Result<> add_tool(Tool tool, ToolHandler handler);
  Result<> add_raw_tool(Tool tool, RawToolHandler handler);
  Result<> add_prompt(Prompt prompt, PromptHandler handler);
  Result<> add_resource(Resource resource, ResourceHandler handler);
  Result<> add_resource_template(ResourceTemplate resource_template, ResourceHandler handler);
  // For the argument of a prompt, or the variable of a template given by its text.
  void add_completion(std::string prompt_or_template, std::string argument, CompletionHandler handler);

  // False if there was none.
  bool remove_tool(std::string_view name);
  bool remove_prompt(std::string_view name);
  bool remove_resource(std::string_view uri);
  bool remove_resource_template(std::string_view uri_template);

  // Tells the clients of one principal that they see other tools now. Those of nobody in particular are told with "".
  void tools_changed(std::string_view principal);

  // Tells those who subscribed that a resource has other contents now.
  void resource_updated(std::string_view uri);

  // Starts to serve in the background, and gives the port.
  Result<std::uint16_t> listen(HttpOptions options = {});
  // Serves one client on standard input and output until its input has ended and is answered, or until `stop`.
  Result<> serve_stdio();
  // Until `stop`.
  void wait();
  // Lets running requests finish, ends streams in good order, and returns when all is done. Also ends `wait`.
  void stop();

  class Core;
  Core& core() { return *core_; }

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace proteus::server
