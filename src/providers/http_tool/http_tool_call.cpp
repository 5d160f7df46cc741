#include "providers/http_tool/http_tool_call.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "json/text.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::providers {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kMaxRedirects = 3;
constexpr std::string_view kFields =
    "Content-Type: application/json\r\n"
    "Accept: application/json, text/plain;q=0.9, */*;q=0.5\r\n"
    "Accept-Encoding: identity\r\n";
constexpr std::string_view kGetFields =
    "Accept: application/json, text/plain;q=0.9, */*;q=0.5\r\n"
    "Accept-Encoding: identity\r\n";

bool is_redirect(unsigned status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool is_json(const net::ClientResponse& response) {
  const std::string_view type = response.content_type();
  return net::same_field_name(type, "application/json") || type.ends_with("+json");
}

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

// Says what an agent can do about the error. The error itself may contain addresses, which the agent must not see.
std::string explain(const Error& error, std::chrono::milliseconds timeout, std::size_t limit) {
  switch (error.kind()) {
    case ErrorKind::unreachable: return "The tool's back end cannot be reached; nothing was sent to it.";
    case ErrorKind::timeout:
      return fmt::format("The tool's back end did not answer within {}. It may still be working on the call.",
                         seconds(timeout));
    case ErrorKind::interrupted:
      return "The connection to the tool's back end broke before it answered. The call may have run.";
    case ErrorKind::protocol: return "The tool's back end sent an answer that is encoded or not valid HTTP.";
    case ErrorKind::too_large:
      return fmt::format("The answer of the tool's back end is larger than {} bytes; ask for less.", limit);
    case ErrorKind::forbidden: return "The gateway may not connect to the address of the tool's back end.";
    case ErrorKind::cancelled: return "The call was cancelled.";
    default: break;
  }
  return "The call to the tool's back end failed.";
}

std::string explain_status(unsigned status) {
  const std::string_view phrase = net::reason_phrase(status);
  const std::string shown = phrase.empty() ? std::to_string(status) : fmt::format("{} {}", status, phrase);
  if (status == 401 || status == 403)
    return fmt::format("The tool's back end refused the session's credentials ({}).", shown);
  if (status == 429) return fmt::format("The tool's back end asks to be called less often ({}).", shown);
  if (status >= 500) return fmt::format("The tool's back end failed ({}).", shown);
  if (status >= 400) return fmt::format("The tool's back end refused the call ({}).", shown);
  return fmt::format("The tool's back end gave an answer that is not a result ({}).", shown);
}

bool has_lines(std::string_view text) { return text.contains('\n') || text.contains('\r'); }

// Replaces line breaks between tokens by spaces, so that the text fits into one line of any transport. Strings in JSON
// contain no line breaks.
std::string one_line(std::string_view json) {
  std::string out(json);
  for (char& c : out) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

using SchemaPointer = std::shared_ptr<const json::Schema>;

// Returns what is wrong with an answer that should be JSON; empty if nothing is.
std::string fault_of(const SchemaPointer& output, std::string_view body) {
  constexpr const char* kNoJson = "The tool's back end says that it answers with JSON, but it does not.";
  if (!output) return json::parses(body) ? "" : kNoJson;
  const auto parsed = json::parse(body);
  if (!parsed) return kNoJson;
  if (output->accepts(*parsed)) return {};
  return "The answer of the tool's back end does not fit the tool's output schema:\n" +
         output->validate(*parsed).text();
}

bool is_object(std::string_view json) {
  const auto begin = json.find_first_not_of(" \n\t\r");
  return begin != std::string_view::npos && json[begin] == '{';
}

// Returns the members of a result.
std::string structured(std::string_view body, mcp::Era era) {
  std::string members = R"("content":[{"type":"text","text":)";
  members.reserve(members.size() + (body.size() * 5 / 2) + 64);  // JSON in quotes is about a quarter longer
  json::append_quoted(members, body);
  members += "}]";
  // Before 2026-07-28 the structured content must be an object.
  if (era == mcp::Era::modern || is_object(body)) {
    members += R"(,"structuredContent":)";
    if (has_lines(body)) {
      members += one_line(body);
    } else {
      members += body;
    }
  }
  return members;
}

mcp::Reply answer_of(const SchemaPointer& output, std::string_view body, mcp::Era era) {
  if (const std::string fault = fault_of(output, body); !fault.empty()) return tool_error(fault);
  mcp::Reply reply;
  reply.members.add(structured(body, era));
  return reply;
}

// Like `answer_of`, in the background: the content of a large answer decides how long a schema takes, and quoting the
// answer takes long in any case. `owner` keeps the body, because the call may be cancelled meanwhile.
Task<mcp::Reply> answer_aside(BackgroundThreads& background, SchemaPointer output, std::string_view body,
                              std::shared_ptr<const void> owner, mcp::Era era) {
  co_return co_await background.run([&background, output, body, owner = std::move(owner), era] {
    if (const std::string fault = fault_of(output, body); !fault.empty()) return tool_error(fault);
    mcp::Reply reply;
    reply.members.add(background.ending_here(std::make_shared<const std::string>(structured(body, era))));
    return reply;
  });
}

// Whether a body of this size takes too long to judge on a request thread.
bool is_large(std::size_t bytes, const SchemaPointer& output) {
  return bytes > (output ? BackgroundThreads::kSmall : 16 * BackgroundThreads::kSmall);
}

// Returns the body in a form that outlives the response.
std::pair<std::string_view, std::shared_ptr<const void>> kept(net::ClientResponse& response, std::string_view body) {
  if (auto memory = response.take_memory()) return {body, std::move(memory)};
  auto copy = std::make_shared<const std::string>(body);
  const std::string_view view = *copy;
  return {view, std::move(copy)};
}

// Makes the result for an answer that is not JSON.
mcp::Reply plain(const HttpTool& tool, const net::ClientResponse& response, std::string_view body) {
  if (tool.output) return tool_error("The tool's back end did not answer with JSON, as the tool's output schema says.");
  if (body.empty()) return tool_text(fmt::format("Done. The back end answered {} without content.", response.status()));
  return tool_text(body);
}

// The requests that one call may need, and what they share. Must live until the last of them was answered.
class Attempt {
 public:
  Attempt(net::HttpClient& http, const HttpToolCall& call, const HttpToolLimits& limits)
      : http_(http),
        call_(call),
        limits_(limits),
        timeout_(call.tool.timeout.value_or(limits.timeout)),
        began_(call.clock.recent()),
        bearer_("Bearer " + std::string(call.bearer.reveal())),
        fields_{net::Field{"Authorization", bearer_}} {
    add("{");
    add_members(call.arguments);
    add_members(call.tool.tail);
    add("}");
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // The URL must outlive the task.
  Task<Result<net::ClientResponse>> post_first() { return post(call_.tool.url, timeout_); }
  Task<Result<net::ClientResponse>> post(const net::Url& url) { return post(url, left()); }
  Task<Result<net::ClientResponse>> get(const net::Url& url, bool with_token) {
    return http_.send({.url = url,
                       .method = "GET",
                       .fields = std::span(fields_).first(with_token ? 1 : 0),
                       .prepared = kGetFields,
                       .body = {},
                       .deadlines = deadlines(left()),
                       .abort = call_.abort});
  }

  static std::optional<net::Url> target(const net::Url& from, const net::ClientResponse& response) {
    const auto location = response.fields().find("Location");
    if (!location) return std::nullopt;
    auto url = from.resolve(*location);
    if (!url) return std::nullopt;
    return std::move(*url);
  }

  mcp::Reply failed(const Error& error) const { return tool_error(explain(error, timeout_, limits_.answer_bytes)); }

 private:
  std::chrono::milliseconds left() const {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(began_ + timeout_ - call_.clock.recent()), 1ms);
  }
  net::RequestDeadlines deadlines(std::chrono::milliseconds whole) const {
    return {.connect = std::min(limits_.connect, whole), .head = whole, .whole = whole};
  }

  Task<Result<net::ClientResponse>> post(const net::Url& url, std::chrono::milliseconds whole) {
    return http_.send({.url = url,
                       .method = "POST",
                       .fields = fields_,
                       .prepared = kFields,
                       .body = {parts_.data(), size_},
                       .deadlines = deadlines(whole),
                       .abort = call_.abort});
  }

  void add(std::string_view part) { parts_.at(size_++) = part; }
  void add_members(std::string_view members) {
    if (members.empty()) return;
    if (size_ > 1) add(",");
    add(members);
  }

  net::HttpClient& http_;
  const HttpToolCall& call_;
  const HttpToolLimits& limits_;
  const std::chrono::milliseconds timeout_;
  const Clock::Monotonic began_;
  const std::string bearer_;
  const std::array<net::Field, 1> fields_;
  std::array<std::string_view, 8> parts_{};
  std::size_t size_ = 0;
};

}  // namespace

mcp::Reply tool_text(std::string_view text) {
  mcp::Reply reply;
  reply.members.add(fmt::format(R"("content":[{{"type":"text","text":{}}}])", json::quote(text)));
  return reply;
}

mcp::Reply tool_error(std::string_view message) {
  mcp::Reply reply;
  reply.members.add(fmt::format(R"("content":[{{"type":"text","text":{}}}],"isError":true)", json::quote(message)));
  reply.is_tool_error = true;
  return reply;
}

Task<mcp::Reply> call_http_tool(net::HttpClient& http, HttpToolCall call, HttpToolLimits limits) {
  Attempt attempt(http, call, limits);
  auto response = co_await attempt.post_first();
  std::optional<net::Url> at;
  bool posts = true;  // until a redirect demands a GET
  for (unsigned hops = 0; response && is_redirect(response->status()); ++hops) {
    auto next = Attempt::target(at ? *at : call.tool.url, *response);
    if (hops == kMaxRedirects || !next)
      co_return tool_error("The tool's back end sent the call elsewhere in a way that is not followed.");
    const unsigned status = response->status();
    if (status != 307 && status != 308) posts = false;
    at = std::move(next);
    const bool home = at->origin() == call.tool.url.origin();
    if (posts) {
      if (!home) co_return tool_error("The tool's back end sent the call to another host, which is not followed.");
      response = co_await attempt.post(*at);
    } else {
      response = co_await attempt.get(*at, home);
    }
  }
  if (!response) co_return attempt.failed(response.error());
  if (response->status() < 200 || response->status() > 299) co_return tool_error(explain_status(response->status()));
  auto body = response->try_read_all(limits.answer_bytes);
  if (body && !*body) body = co_await response->read_all(limits.answer_bytes);
  if (!body) co_return attempt.failed(body.error());
  const std::string_view text = **body;
  const bool judged = !text.empty() && is_json(*response);
  if (!is_large(text.size(), call.tool.output)) {
    co_return judged ? answer_of(call.tool.output, text, call.era) : plain(call.tool, *response, text);
  }
  if (!judged && call.tool.output) co_return plain(call.tool, *response, text);
  const auto [lasting, owner] = kept(*response, text);
  if (!judged) co_return co_await call.background.run([lasting, owner] { return tool_text(lasting); });
  co_return co_await answer_aside(call.background, call.tool.output, lasting, owner, call.era);
}

}  // namespace proteus::providers
