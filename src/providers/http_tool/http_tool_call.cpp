#include "providers/http_tool/http_tool_call.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "json/text.hpp"
#include "net/response_head.hpp"

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

// What an agent can do about it. The error itself may hold addresses, and is not for it.
std::string explain(const Error& error, std::chrono::milliseconds timeout, std::size_t limit) {
  switch (error.kind()) {
    case ErrorKind::unreachable: return "The tool's back end cannot be reached; nothing was sent to it.";
    case ErrorKind::timeout:
      return fmt::format("The tool's back end did not answer within {}. It may still be working on the call.",
                         seconds(timeout));
    case ErrorKind::interrupted:
      return "The connection to the tool's back end broke before it answered. The call may have run.";
    case ErrorKind::protocol: return "The tool's back end gave an answer that is not valid HTTP, or encoded.";
    case ErrorKind::too_large:
      return fmt::format("The answer of the tool's back end is larger than {} bytes; ask for less.", limit);
    case ErrorKind::forbidden: return "The tool's back end is at an address that may not be asked.";
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
  return fmt::format("The tool's back end gave an answer that is no result ({}).", shown);
}

// Line breaks between tokens become spaces, so that the text fits into one line of any transport; within strings JSON
// has none.
std::string one_line(std::string_view json) {
  std::string out(json);
  for (char& c : out) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

mcp::Reply structured(const HttpTool& tool, std::string_view body, mcp::Era era) {
  const auto parsed = json::parse(body);
  if (!parsed) return tool_error("The tool's back end says that it answers with JSON, but it does not.");
  if (tool.output && !tool.output->accepts(*parsed)) {
    return tool_error("The answer of the tool's back end does not fit the tool's output schema:\n" +
                      tool.output->validate(*parsed).text());
  }
  std::string members = R"("content":[{"type":"text","text":)";
  members.reserve(members.size() + (body.size() * 2) + 64);
  json::append_quoted(members, body);
  members += "}]";
  // Before 2026-07-28 it must be an object.
  if (parsed->is_object() || era == mcp::Era::modern) {
    members += R"(,"structuredContent":)";
    members += body.find_first_of("\r\n") == std::string_view::npos ? body : std::string_view(one_line(body));
  }
  mcp::Reply reply;
  reply.members.add(std::move(members));
  return reply;
}

mcp::Reply result(const HttpTool& tool, const net::ClientResponse& response, std::string_view body, mcp::Era era) {
  if (!body.empty() && is_json(response)) return structured(tool, body, era);
  if (tool.output) return tool_error("The tool's back end did not answer with JSON, as the tool's output schema says.");
  if (body.empty()) return tool_text(fmt::format("Done. The back end answered {} without content.", response.status()));
  return tool_text(body);
}

class Attempt {
 public:
  Attempt(net::HttpClient& http, const HttpToolCall& call, const HttpToolLimits& limits)
      : http_(http),
        call_(call),
        limits_(limits),
        timeout_(call.tool.timeout.value_or(limits.timeout)),
        end_(call.clock.now() + timeout_),
        bearer_(fmt::format("Bearer {}", call.bearer.reveal())) {}

  Task<mcp::Reply> run() {
    auto response = co_await post(call_.tool.url);
    net::Url at = call_.tool.url;
    for (unsigned hops = 0; response && is_redirect(response->status()); ++hops) {
      const auto next = target(at, *response);
      if (hops == kMaxRedirects || !next)
        co_return tool_error("The tool's back end sent the call elsewhere in a way that is not followed.");
      const unsigned status = response->status();
      at = *next;
      const bool home = at.origin() == call_.tool.url.origin();
      if (status == 307 || status == 308) {
        if (!home) co_return tool_error("The tool's back end sent the call to another host, which is not followed.");
        response = co_await post(at);
      } else {
        response = co_await get(at, home);
      }
    }
    if (!response) co_return failed(response.error());
    if (response->status() < 200 || response->status() > 299) co_return tool_error(explain_status(response->status()));
    const auto body = co_await response->read_all(limits_.answer_bytes);
    if (!body) co_return failed(body.error());
    co_return result(call_.tool, *response, *body, call_.era);
  }

 private:
  static std::optional<net::Url> target(const net::Url& from, const net::ClientResponse& response) {
    const auto location = response.fields().find("Location");
    if (!location) return std::nullopt;
    auto url = from.resolve(*location);
    if (!url) return std::nullopt;
    return std::move(*url);
  }

  mcp::Reply failed(const Error& error) const { return tool_error(explain(error, timeout_, limits_.answer_bytes)); }

  net::RequestDeadlines deadlines() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - call_.clock.now());
    const auto whole = std::max(left, 1ms);
    return {.connect = std::min(limits_.connect, whole), .head = whole, .whole = whole};
  }

  Task<Result<net::ClientResponse>> post(const net::Url& url) {
    const HttpTool& tool = call_.tool;
    // Its parts are kept here: what is sent must outlive the wait.
    size_ = 0;
    add("{");
    add_members(call_.arguments);
    add_members(tool.tail);
    add("}");
    const std::array fields = {net::Field{"Authorization", bearer_}};
    co_return co_await http_.send({.url = url,
                                   .method = "POST",
                                   .fields = fields,
                                   .prepared = kFields,
                                   .body = {parts_.data(), size_},
                                   .deadlines = deadlines(),
                                   .abort = call_.abort});
  }

  Task<Result<net::ClientResponse>> get(const net::Url& url, bool with_token) {
    const std::array fields = {net::Field{"Authorization", bearer_}};
    co_return co_await http_.send({.url = url,
                                   .method = "GET",
                                   .fields = std::span(fields).first(with_token ? 1 : 0),
                                   .prepared = kGetFields,
                                   .body = {},
                                   .deadlines = deadlines(),
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
  const Clock::Monotonic end_;
  const std::string bearer_;
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
  return reply;
}

Task<mcp::Reply> call_http_tool(net::HttpClient& http, HttpToolCall call, HttpToolLimits limits) {
  Attempt attempt(http, call, limits);
  co_return co_await attempt.run();
}

}  // namespace proteus::providers
