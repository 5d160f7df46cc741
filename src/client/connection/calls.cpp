#include "client/connection/calls.hpp"

#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::client {
namespace {

Params named(std::string_view key, std::string name, std::string_view arguments) {
  Params params;
  params.members.add(fmt::format(R"("{}":{})", key, json::quote(name)));
  if (!arguments.empty()) params.members.add(fmt::format(R"(,"arguments":{})", arguments));
  params.name = std::move(name);
  return params;
}

}  // namespace

Task<Result<Answer>> call_tool(Connection& connection, std::string name, std::string arguments,
                               RequestOptions options) {
  return connection.request(mcp::Method::tools_call, named("name", std::move(name), arguments), std::move(options));
}

Task<Result<Answer>> get_prompt(Connection& connection, std::string name, std::string arguments,
                                RequestOptions options) {
  return connection.request(mcp::Method::prompts_get, named("name", std::move(name), arguments), std::move(options));
}

Task<Result<Answer>> read_resource(Connection& connection, std::string uri, RequestOptions options) {
  return connection.request(mcp::Method::resources_read, named("uri", std::move(uri), {}), std::move(options));
}

Task<Result<Answer>> complete(Connection& connection, std::string reference, std::string argument, std::string value,
                              std::string context, RequestOptions options) {
  Params params;
  params.members.add(fmt::format(R"("ref":{},"argument":{{"name":{},"value":{}}})", reference, json::quote(argument),
                                 json::quote(value)));
  if (!context.empty()) params.members.add(fmt::format(R"(,"context":{{"arguments":{}}})", context));
  return connection.request(mcp::Method::complete, std::move(params), std::move(options));
}

Task<Result<>> ping(Connection& connection, RequestOptions options) {
  const auto facts = co_await connection.open();
  if (!facts) co_return std::unexpected(facts.error());
  const auto method = (*facts)->era() == mcp::Era::legacy ? mcp::Method::ping : mcp::Method::discover;
  const auto answer = co_await connection.request(method, {}, std::move(options));
  if (!answer) {
    // A server that has just agreed to the other era, which lacks the method, has answered.
    const bool changed_era = connection.facts()->era() != (*facts)->era();
    if (changed_era && answer.error().kind() == ErrorKind::unsupported) co_return Result<>{};
    co_return std::unexpected(answer.error());
  }
  if (method == mcp::Method::discover) connection.update_facts(*answer);
  co_return Result<>{};
}

bool wants_refresh(const Answer& answer) { return answer.message().meta.value("refresh_capabilities") == "true"; }

}  // namespace proteus::client
