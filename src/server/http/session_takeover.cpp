// A session whose process has ended, or has handed it over, goes on here (REP-10, REP-14).
#include "base/log.hpp"
#include "base/waiting.hpp"
#include "server/http/http_endpoint.hpp"

namespace proteus::server {
namespace {

// Requests of one client come side by side, and one of them takes the session over.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kPause{20};

// Whatever its client was not told meanwhile.
void announce_all(Session& session, const mcp::ServerCapabilities& offered) {
  if (offered.tools.list_changed) session.list_changed(mcp::Method::tools_changed);
  if (offered.prompts.list_changed) session.list_changed(mcp::Method::prompts_changed);
  if (offered.resources.list_changed) session.list_changed(mcp::Method::resources_changed);
  for (const auto& uri : session.subscriptions())
    session.resource_updated(uri);
}

}  // namespace

Task<Result<HttpEndpoint::Whereabouts>> HttpEndpoint::find_or_take_over(std::string id, SessionFacts facts,
                                                                        Caller caller) {
  SessionRecords& records = *options_.session_records;
  const ProcessKey& self = options_.session_ids->self();
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) co_await sleep_for(kPause);
    if (auto session = sessions_.find(id, caller)) co_return Whereabouts{.session = std::move(session)};
    auto record = co_await records.read(id);
    if (!record) co_return std::unexpected(std::move(record).error());
    if (!*record) co_return Whereabouts{};
    const SessionRecord::Holder before = (*record)->holder;
    // Another request is about to take it over here.
    if (before.process == self) continue;
    const bool is_free = before.process == nobody();
    const auto lives = is_free ? Result<bool>(false) : co_await options_.others->lives(before.process);
    if (!lives) co_return std::unexpected(lives.error());
    if (*lives) co_return Whereabouts{.elsewhere = before.process};
    if (!(*record)->state) {
      // A part of it was in the process.
      records.remove(id, before);
      co_return Whereabouts{};
    }
    (*record)->holder = {self, before.term + 1};
    const auto replaced = co_await records.replace(id, before, **record);
    if (!replaced) co_return std::unexpected(replaced.error());
    if (!*replaced) continue;
    auto session = take_over(id, facts, caller, **record);
    if (!session) co_return std::unexpected(std::move(session).error());
    co_return Whereabouts{.session = std::move(*session)};
  }
  co_return std::unexpected(errors::unavailable("another request takes this session over; try again"));
}

Result<std::shared_ptr<Session>> HttpEndpoint::take_over(const std::string& id, const SessionFacts& facts,
                                                         const Caller& caller, const SessionRecord& record) {
  auto session = sessions_.adopt(id, {caller, facts.version, facts.client_capabilities, {}}, record);
  if (!session) {
    options_.session_records->remove(id, record.holder);
    return session;
  }
  log::info("a session of another process goes on here, which is number {} that has it", record.holder.term);
  service_.take_over(*session, *record.state);
  announce_all(**session, service_.face(caller, mcp::Era::legacy).capabilities);
  return session;
}

}  // namespace proteus::server
