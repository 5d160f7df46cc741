#include "server/api/outcome.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::server {

namespace asio = boost::asio;

namespace {

std::string content_json(const std::vector<Content>& content) {
  std::string out = "[";
  for (const auto& block : content) {
    if (out.size() > 1) out += ',';
    out += boost::json::serialize(block.json());
  }
  return out + "]";
}

std::string inside(const boost::json::object& object) {
  const std::string text = boost::json::serialize(object);
  return text.substr(1, text.size() - 2);
}

}  // namespace

mcp::InputRequired to_input_required(const Ask& ask) {
  mcp::InputRequired required;
  required.state = ask.state();
  for (const auto& question : ask.questions()) {
    mcp::InputRequest request{question.key, mcp::Method::elicit, {}};
    if (question.kind == Ask::Kind::sampling) request.method = mcp::Method::create_message;
    if (question.kind == Ask::Kind::roots) request.method = mcp::Method::list_roots;
    if (!question.params.empty()) request.params = boost::json::serialize(question.params);
    required.requests.push_back(std::move(request));
  }
  return required;
}

mcp::Reply to_reply(const ToolResult& result, mcp::Era era) {
  std::string members = R"("content":)" + content_json(result.content);
  if (result.structured && (era == mcp::Era::modern || result.structured->is_object())) {
    members += R"(,"structuredContent":)" + boost::json::serialize(*result.structured);
  }
  if (result.is_error) members += R"(,"isError":true)";
  mcp::Reply reply;
  reply.members.add(std::move(members));
  reply.is_tool_error = result.is_error;
  if (!result.meta.empty()) reply.meta = inside(result.meta);
  return reply;
}

mcp::Reply to_reply(const PromptResult& result) {
  std::string members;
  if (!result.description.empty()) members = fmt::format(R"("description":{},)", json::quote(result.description));
  members += R"("messages":[)";
  bool first = true;
  for (const auto& message : result.messages) {
    if (!std::exchange(first, false)) members += ',';
    members +=
        fmt::format(R"({{"role":"{}","content":{}}})", message.role == PromptMessage::Role::user ? "user" : "assistant",
                    boost::json::serialize(message.content.json()));
  }
  mcp::Reply reply;
  reply.members.add(members + "]");
  return reply;
}

mcp::Reply to_reply(const ResourceResult& result, std::string_view uri) {
  boost::json::array contents;
  for (const auto& part : result.contents) {
    boost::json::object object{{"uri", part.uri.empty() ? uri : std::string_view(part.uri)}};
    if (!part.mime_type.empty()) object["mimeType"] = part.mime_type;
    if (part.base64.empty()) {
      object["text"] = part.text;
    } else {
      object["blob"] = part.base64;
    }
    contents.push_back(std::move(object));
  }
  mcp::Reply reply;
  reply.members.add(R"("contents":)" + boost::json::serialize(contents));
  reply.caching = {result.ttl, result.same_for_everyone ? mcp::CacheScope::shared : mcp::CacheScope::per_caller};
  return reply;
}

mcp::Outcome to_reply(std::string result_object) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t open = result_object.find_first_not_of(kSpace);
  const std::size_t close = result_object.find_last_not_of(kSpace);
  if (open == close || result_object[open] != '{' || result_object[close] != '}') {
    return std::unexpected(errors::internal("The server's handler gave no result object"));
  }
  mcp::Outcome outcome(std::in_place, std::in_place_type<mcp::Reply>);
  const std::size_t first = result_object.find_first_not_of(kSpace, open + 1);
  const std::size_t behind = result_object.size() - close;
  if (first < close) std::get<mcp::Reply>(*outcome).members.add(std::move(result_object), first, behind);
  return outcome;
}

template <class T>
Task<Outcome<T>> run_async(const AsyncHandler<T>& handler, Context& context) {
  asio::cancellation_signal signal;
  const Cancellation::Hook stop(context.call().cancellation(),
                                [&signal] { signal.emit(asio::cancellation_type::terminal); });
  try {
    co_return co_await asio::co_spawn(co_await asio::this_coro::executor, handler(context),
                                      asio::bind_cancellation_slot(signal.slot(), asio::use_awaitable));
  } catch (...) {
    if (!context.call().cancellation().requested()) throw;
    co_return Outcome<T>(errors::cancelled("the request"));
  }
}

template Task<Outcome<ToolResult>> run_async(const AsyncHandler<ToolResult>&, Context&);
template Task<Outcome<PromptResult>> run_async(const AsyncHandler<PromptResult>&, Context&);
template Task<Outcome<ResourceResult>> run_async(const AsyncHandler<ResourceResult>&, Context&);

}  // namespace proteus::server
