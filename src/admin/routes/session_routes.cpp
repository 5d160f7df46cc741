#include "admin/routes/session_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/routes/session_requests.hpp"
#include "base/log/log.hpp"
#include "base/settings/units.hpp"
#include "catalog/view/view.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

using gateway::ToolSessions;

struct SessionDesk {
  gateway::Gateway& gateway;
  ToolSessions& sessions;
};

constexpr std::size_t kMaxDepth = 100;  // schemas may be deeply nested

std::string write(const boost::json::object& body) { return boost::json::serialize(body); }

Task<Result<Answer>> init(SessionDesk desk, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  auto read = read_init(*body);
  if (!read) co_return std::unexpected(read.error());
  const std::string id = read->id.value();
  const auto done = co_await desk.sessions.init(std::move(*read), request.who());
  if (!done) co_return std::unexpected(done.error());
  co_return Answer{.body = write({{"session_id", id},
                                  {"status", *done == ToolSessions::Initialized::created ? "created" : "updated"}})};
}

Task<Result<Answer>> register_tools(SessionDesk desk, AdminRequest& request) {
  const auto body = request.body(kMaxDepth);
  if (!body) co_return std::unexpected(body.error());
  auto read = read_registration(*body);
  if (!read) co_return std::unexpected(read.error());
  auto tools = desk.sessions.read_tools(body->at("tools").get_array(),
                                        json::find_member(request.exchange().request().body(), "tools"));
  if (!tools) co_return std::unexpected(tools.error());
  read->tools = std::move(*tools);
  const std::string id = read->id.value();
  const auto names = co_await desk.sessions.register_tools(std::move(*read), request.who());
  if (!names) co_return std::unexpected(names.error());
  co_return Answer{.body =
                       write({{"session_id", id}, {"registered", boost::json::array(names->begin(), names->end())}})};
}

Task<Result<Answer>> unregister(SessionDesk desk, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  const auto read = read_unregistration(*body);
  if (!read) co_return std::unexpected(read.error());
  const auto done = co_await desk.sessions.unregister(read->id, read->name, request.who());
  if (!done) co_return std::unexpected(done.error());
  co_return Answer{.body = write({{"session_id", read->id.value()}, {"unregistered", read->name}})};
}

Task<Result<Answer>> cleanup(SessionDesk desk, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  const auto id = read_cleanup(*body);
  if (!id) co_return std::unexpected(id.error());
  const auto removed = co_await desk.sessions.cleanup(*id, request.who());
  boost::json::object answer{{"session_id", id->value()}, {"removed", removed.tools}};
  if (!removed.is_durable) answer["durable"] = false;
  co_return Answer{.body = write(answer)};
}

// Describes what a tool does. Fixed parameters may be secret, so only their names are shown.
std::string hidden_part(const providers::HttpTool& tool, const catalog::View& shared) {
  std::string out = fmt::format(R"(,"url":{})", json::quote(tool.url.text()));
  if (!tool.action.empty()) out += fmt::format(R"(,"action":{})", json::quote(tool.action));
  if (tool.reserved.size() > 1) {
    boost::json::array names(tool.reserved.begin() + 1, tool.reserved.end());
    out += fmt::format(R"(,"fixed_param_names":{})", boost::json::serialize(names));
  }
  if (tool.timeout) out += fmt::format(R"(,"timeout":{})", json::quote(write_duration(*tool.timeout)));
  if (const auto found = shared.find(catalog::Kind::tool, tool.name))
    out += fmt::format(R"(,"shadows":{})", json::quote(found.snapshot->upstream().value()));
  return out;
}

Task<Result<Answer>> list(SessionDesk desk, AdminRequest& request) {
  // Clients escape more characters of an id than necessary.
  const auto given = request.text("session_id");
  if (!given) co_return std::unexpected(given.error());
  if (!*given) co_return std::unexpected(errors::invalid("the parameter session_id is missing"));
  const auto id = read_session_id(**given);
  if (!id) co_return std::unexpected(Error(id.error()).within("session_id"));
  const auto session = desk.sessions.use(*id);
  if (!session) co_return std::unexpected(errors::not_found(fmt::format("there is no session {}", id->value())));
  const auto set = session->tools();
  const catalog::View shared(desk.gateway.catalog().current());
  std::string out = fmt::format(R"({{"session_id":{},"tools":[)", json::quote(id->value()));
  for (const auto& tool : set->tools) {
    if (tool != set->tools.front()) out += ',';
    const auto* shown = set->snapshot->list(catalog::Kind::tool).find(tool->name);
    out += shown->text.substr(0, shown->text.find_last_of('}'));
    out += hidden_part(*tool, shared) + "}";
  }
  co_return Answer{.body = out + "]}"};
}

}  // namespace

Routes session_routes(gateway::Gateway& gateway, ToolSessions& sessions) {
  const SessionDesk desk{gateway, sessions};
  return {
      {.method = "POST",
       .path = "/admin/session/init",
       .help =
           "Binds a token to a session; the body has session_id, user_token, user_id, and optionally backend_token, "
           "context and catalog.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return init(desk, request); }},
      {.method = "POST",
       .path = "/admin/session/cleanup",
       .answer = "RemovedToolSession",
       .help = "Removes a session with its tools and its token; the body has session_id.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return cleanup(desk, request); }},
      {.method = "POST",
       .path = "/admin/tools/register",
       .help = "Gives a session tools, all or none; the body has session_id and tools, and to make the session "
               "user_token and user_id.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return register_tools(desk, request); }},
      {.method = "POST",
       .path = "/admin/tools/unregister",
       .help = "Removes one tool; the body has session_id and name.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return unregister(desk, request); }},
      {.method = "GET",
       .path = "/admin/tools/list",
       .help = "Shows the tools of a session, without secrets.",
       .parameters = {{"session_id", "Which session."}},
       .handle = [desk](AdminRequest& request) { return list(desk, request); }},
  };
}

}  // namespace proteus::admin
