#include "admin/routes/graph_tools.hpp"

#include <memory>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "admin/http/problem.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/request.hpp"
#include "server/http/cors.hpp"

namespace proteus::admin {
namespace {

constexpr std::string_view kBefore = "/v1/graphs/";
constexpr std::string_view kBehind = "/mcp/tools";
constexpr int kMostPages = 10'000;
constexpr std::size_t kMostTools = 100'000;

// A channel that drops all messages: a list sends nothing but its answer.
class Silence final : public server::CallChannel {
 public:
  explicit Silence(Executor executor) : cancellation_(std::make_shared<server::Cancellation>(std::move(executor))) {}
  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  server::Cancellation& cancellation() override { return *cancellation_; }

 private:
  std::shared_ptr<server::Cancellation> cancellation_;
};

std::string list_request(const std::string& cursor) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
      cursor.empty() ? "" : fmt::format(R"("cursor":{},)", json::quote(cursor)));
}

void add_tool(std::string& out, std::string_view tool) {
  if (!out.empty()) out += ',';
  out += fmt::format(R"({{"name":{})", json::find_member(tool, "name"));
  const std::string_view description = json::find_member(tool, "description");
  out += fmt::format(R"(,"description":{},"inputSchema":{}}})", description.empty() ? R"("")" : description,
                     json::find_member(tool, "inputSchema"));
}

}  // namespace

bool GraphTools::owns(std::string_view path) {
  if (!path.starts_with(kBefore) || !path.ends_with(kBehind)) return false;
  if (path.size() <= kBefore.size() + kBehind.size()) return false;
  return !path.substr(kBefore.size(), path.size() - kBefore.size() - kBehind.size()).contains('/');
}

Task<Result<std::string>> GraphTools::tools(const server::Caller& caller) {
  Silence channel(co_await boost::asio::this_coro::executor);
  std::string tools;
  std::string missing;
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    const std::string text = list_request(cursor);
    auto message = json::scan(text);
    if (!message) co_return std::unexpected(message.error());
    const auto request = mcp::modern::decode(*message, {}, {});
    if (!request) co_return std::unexpected(request.error());
    server::Call call(*request, caller, channel);
    auto outcome = co_await gateway_.service().handle(call);
    if (!outcome) co_return std::unexpected(outcome.error());
    const auto* reply = std::get_if<mcp::Reply>(&*outcome);
    if (reply == nullptr) co_return std::unexpected(errors::protocol("a list asks for input"));
    const std::string result = "{" + reply->members.str() + "}";
    const auto elements = json::elements_of(json::find_member(result, "tools"), kMostTools);
    if (!elements) co_return std::unexpected(elements.error());
    for (const auto element : *elements)
      add_tool(tools, element);
    if (!reply->meta.empty()) missing = json::find_member("{" + reply->meta + "}", "proteus/missing");
    cursor = json::decode_string(json::find_member(result, "nextCursor")).value_or("");
    if (cursor.empty()) break;
  }
  co_return fmt::format(R"({{"tools":[{}]{}}})", tools, missing.empty() ? "" : R"(,"missing":)" + missing);
}

Task<> GraphTools::handle(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  const auto origin = hosts_.check(request, &gateway_.refusals());
  if (!origin) co_return co_await reply_problem(exchange, origin.error());
  if (*origin) exchange.add_fields(server::cors_fields(**origin));
  if (request.method() == "OPTIONS") {
    exchange.add_fields(server::options_fields(request, "GET, OPTIONS"));
    co_await exchange.reply({.status = 204});
    co_return;
  }
  const std::string_view path = request.path();
  const auto caller =
      co_await gateway_.admit(request, path.substr(kBefore.size(), path.size() - kBefore.size() - kBehind.size()));
  if (!caller) co_return co_await reply_refusal(exchange, caller.error());
  if (request.method() != "GET") {
    co_return co_await reply_problem(exchange, 405, errors::unsupported("this path takes GET and OPTIONS"),
                                     "Allow: GET, OPTIONS\r\n");
  }
  if (const auto admitted = gateway_.admit_request(*caller); !admitted) {
    co_return co_await reply_problem(exchange, 429, admitted.error());
  }
  const auto body = co_await tools(*caller);
  if (!body) co_return co_await reply_problem(exchange, body.error());
  co_await exchange.reply({.status = 200, .content_type = "application/json"}, *body);
}

}  // namespace proteus::admin
