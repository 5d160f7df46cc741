#include "admin/routes/open_session_routes.hpp"

#include <algorithm>
#include <charconv>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

struct OpenDesk {
  gateway::Gateway& gateway;
  gateway::ToolSessions& sessions;
  store::Store& store;
};

constexpr std::string_view kClient = "client-";
constexpr std::string_view kStream = "stream-";
constexpr std::string_view kCall = "call-";
constexpr std::string_view kReason = "an operator ended the session";

// Returns an id for operators, because the id of a client session is a secret.
std::string handle_of(const server::ClientSessionId& id) {
  return std::string(kClient) + json::hex(json::sha256(id.value())).substr(0, 16);
}

std::string time_of(const Clock& clock, Clock::Monotonic at) {
  return write_date_time(clock.wall() - std::chrono::duration_cast<Clock::Wall::duration>(clock.now() - at));
}

object whose(const server::Caller& caller) {
  const std::string& name = gateway::principal_of(caller).name();
  return {{"principal", name.empty() ? value(nullptr) : value(name)}, {"context", caller.context}};
}

// Adds the total number and the `most` newest entries.
template <class One>
void add(object& out, std::string_view key, std::vector<One> all, std::size_t most, auto newer, auto write) {
  const std::size_t total = all.size();
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(std::min(most, total)), newer);
  array shown;
  for (std::size_t i = 0; i < std::min(most, total); ++i)
    shown.push_back(write(all[i]));
  out[key] = object{{"total", total}, {"newest", std::move(shown)}};
}

object client_document(const Clock& clock, const server::Sessions::Open& open) {
  object out = whose(*open.session->caller());
  const auto& hello = open.session->hello();
  out["id"] = handle_of(open.session->id());
  out["protocol_version"] = mcp::to_string(hello.version);
  out["client"] = json::decode_string(json::find_member(hello.client_info, "name")).value_or("");
  out["began_at"] = time_of(clock, open.began);
  out["last_used_at"] = time_of(clock, open.last_used);
  out["listens"] = open.session->hears();
  return out;
}

object stream_document(const Clock& clock, const server::Listeners::Stream& stream) {
  object out = whose(*stream.caller);
  out["id"] = fmt::format("{}{}", kStream, stream.number);
  const auto open_for = std::chrono::steady_clock::now() - stream.since;
  out["began_at"] = write_date_time(clock.wall() - std::chrono::duration_cast<Clock::Wall::duration>(open_for));
  array wants;
  if (stream.filter.tools) wants.emplace_back("tools");
  if (stream.filter.prompts) wants.emplace_back("prompts");
  if (stream.filter.resources) wants.emplace_back("resources");
  out["hears_of"] = std::move(wants);
  out["resources"] = stream.filter.uris.size();
  return out;
}

object call_document(const Clock& clock, const gateway::ParkedCalls::Waiting& call) {
  return {{"id", fmt::format("{}{}", kCall, call.number)},
          {"principal", call.principal.empty() ? value(nullptr) : value(call.principal)},
          {"upstream", call.upstream},
          {"waits_for", "the client's answer to a question of the upstream"},
          {"began_at", time_of(clock, call.since)}};
}

object tool_session_document(const Clock& clock, const gateway::ToolSessionEntry& entry) {
  const auto binding = entry.session->binding();
  return {{"session_id", entry.session->id().value()},
          {"user_id", binding ? json::parse(binding->user_id).value_or(nullptr) : value(nullptr)},
          {"context", binding ? binding->context : ""},
          {"tools", entry.session->tools()->tools.size()},
          {"began_at", write_date_time(Clock::Wall(entry.session->created_at()))},
          {"last_used_at", time_of(clock, entry.session->last_used())}};
}

Task<Result<Answer>> list(OpenDesk desk, AdminRequest& request) {
  const auto most = request.limit();
  if (!most) co_return std::unexpected(most.error());
  const Clock& clock = desk.gateway.clock();
  object out;
  add(
      out, "client_sessions", desk.gateway.endpoint().sessions().all(), *most,
      [](const auto& a, const auto& b) { return a.last_used > b.last_used; },
      [&](const auto& one) { return client_document(clock, one); });
  add(
      out, "streams", desk.gateway.listeners().streams(), *most,
      [](const auto& a, const auto& b) { return a.number > b.number; },
      [&](const auto& one) { return stream_document(clock, one); });
  add(
      out, "parked_calls", desk.gateway.service().parked().all(), *most,
      [](const auto& a, const auto& b) { return a.number > b.number; },
      [&](const auto& one) { return call_document(clock, one); });
  add(
      out, "tool_sessions", desk.sessions.all(), *most,
      [](const auto& a, const auto& b) { return a.session->last_used() > b.session->last_used(); },
      [&](const auto& one) { return tool_session_document(clock, one); });
  co_return Answer{.body = boost::json::serialize(out)};
}

std::optional<std::uint64_t> number_after(std::string_view prefix, std::string_view id) {
  if (!id.starts_with(prefix)) return std::nullopt;
  id.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

// Ends what has this id. Returns the name of its principal; nothing if there is no such id.
std::optional<std::string> end_one(gateway::Gateway& gateway, const std::string& id) {
  if (const auto number = number_after(kStream, id)) {
    const auto caller = gateway.listeners().end_stream(*number);
    return caller ? std::optional(gateway::principal_of(*caller).name()) : std::nullopt;
  }
  if (const auto number = number_after(kCall, id)) return gateway.service().parked().cancel_one(*number);
  for (const auto& open : gateway.endpoint().sessions().all()) {
    if (handle_of(open.session->id()) != id) continue;
    const auto caller = open.session->caller();
    if (!gateway.endpoint().sessions().end(open.session->id(), std::string(kReason))) return std::nullopt;
    return gateway::principal_of(*caller).name();
  }
  return std::nullopt;
}

Task<Result<Answer>> end(OpenDesk desk, AdminRequest& request) {
  const std::string id = request.variable("id");
  const auto principal = end_one(desk.gateway, id);
  if (!principal) co_return std::unexpected(errors::not_found("there is no such session, or it has ended"));
  store::Writes writes;
  writes.emplace_back(
      store::AppendAudit{{.number = 0,
                          .at = store::to_time(desk.gateway.clock().wall()),
                          .who = request.who(),
                          .what = "session.end",
                          .detail = boost::json::serialize(object{{"id", id}, {"principal", *principal}})}});
  // The session has ended even if the audit could not be written.
  const auto written = co_await desk.store.write(std::move(writes));
  object out{{"id", id}, {"state", "ended"}};
  if (!written) out["durable"] = false;
  co_return Answer{.body = boost::json::serialize(out)};
}

}  // namespace

Routes open_session_routes(gateway::Gateway& gateway, gateway::ToolSessions& sessions, store::Store& store) {
  const OpenDesk desk{gateway, sessions, store};
  return {{.method = "GET",
           .path = "/admin/sessions",
           .answer = "OpenSessions",
           .help = "Shows what callers have open: sessions of legacy clients, streams that listen, calls that wait for "
                   "an answer, and tool sessions.",
           .parameters = {{"limit", "Maximum number of each to return, up to 1000."}},
           .handle = [desk](AdminRequest& request) { return list(desk, request); }},
          {.method = "DELETE",
           .path = "/admin/sessions/{id}",
           .answer = "EndedSession",
           .help = "Ends a client session, a stream or a waiting call. POST /admin/session/cleanup ends tool sessions.",
           .effect = Effect::changes,
           .handle = [desk](AdminRequest& request) { return end(desk, request); }}};
}

}  // namespace proteus::admin
