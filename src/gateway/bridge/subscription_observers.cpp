// Tells clients what their sessions at upstreams announce.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gateway/bridge/subscriptions.hpp"
#include "gateway/connections/upstream_sessions_of_client.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/routing/task_translation.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

// Forwards the status of a task, with the client's id, if the session has this task.
void tell_of_task(server::Session& session, const SessionTasks& tasks, std::string_view upstream,
                  const json::Message& notification) {
  const std::string_view raw = notification.body.value("taskId");
  const auto shown = tasks.shown(upstream, json::decode_string(raw).value_or(""));
  if (!shown || !mcp::has_tasks(session.hello().version)) return;
  session.outside()->send(with_string(notification.text, raw, *shown));
}

// Notifies the listeners that a change concerns. Evaluates `concerns` without holding the listeners' lock, because
// comparing long lists takes time.
template <class VisitAll>
void tell(const VisitAll& visit_all, mcp::Method changed, const SessionObserver::Concerns& concerns) {
  const auto access_of = [](const server::Caller& caller) -> const catalog::Access& {
    return principal_of(caller).access();
  };
  std::map<std::string, catalog::Access> concerned;
  visit_all([&](server::Listener& each) {
    const auto caller = each.caller();
    concerned.emplace(access_of(*caller).fingerprint(), access_of(*caller));
  });
  std::erase_if(concerned, [&](const auto& entry) { return !concerns(entry.second); });
  visit_all([&](server::Listener& each) {
    const auto caller = each.caller();
    if (concerned.contains(access_of(*caller).fingerprint())) each.list_changed(changed);
  });
}

}  // namespace

SessionObserver Subscriptions::observer_of(const std::string& principal, Worker& worker) {
  if (&home_of(principal) != &worker) return SessionObserver::nobody();
  return {.wanted = [this, principal] { return listeners_.wanted_by_streams(principal); },
          .attached = [this, principal] { return listeners_.wanted_by_streams(principal).has_value(); },
          .list_changed =
              [this, principal](mcp::Method changed, const SessionObserver::Concerns& concerns) {
                tell([&](const auto& each) { listeners_.visit_streams(principal, each); }, changed, concerns);
              },
          .resource_updated =
              [this, principal](const std::string& uri) {
                listeners_.visit_streams(principal, [&](server::Listener& stream) { stream.resource_updated(uri); });
              },
          .lists = worker.lists_of(principal)};
}

SessionObserver Subscriptions::observer_of(server::Session& session) {
  const std::shared_ptr<UpstreamSessionsOfClient> upstream_sessions = UpstreamSessionsOfClient::of(session);
  // An upstream session may briefly outlive the client session.
  const auto visit = [this, gone = std::weak_ptr(upstream_sessions),
                      client = &session](const server::Listeners::Visit& visit) {
    if (const auto alive = gone.lock()) listeners_.visit(client, visit);
  };
  return {.wanted =
              [visit, client = &session] {
                std::optional<mcp::SubscriptionFilter> wanted;
                visit([&](server::Listener&) {
                  const bool hears = client->hears();
                  wanted = {.tools = hears, .prompts = hears, .resources = hears, .uris = client->subscriptions()};
                });
                return wanted;
              },
          .attached =
              [visit, client = &session] {
                bool attached = false;
                visit([&](server::Listener&) { attached = client->hears(); });
                return attached;
              },
          .list_changed = [visit](mcp::Method changed,
                                  const SessionObserver::Concerns& concerns) { tell(visit, changed, concerns); },
          .resource_updated =
              [visit](const std::string& uri) {
                visit([&](server::Listener& listener) { listener.resource_updated(uri); });
              },
          .told =
              [visit, client = &session](const json::Message& notification) {
                visit([&](server::Listener&) { client->pass_on(notification); });
              },
          .task_told =
              [visit, client = &session, tasks = upstream_sessions->tasks()](const std::string& upstream,
                                                                             const json::Message& notification) {
                visit([&](server::Listener&) { tell_of_task(*client, *tasks, upstream, notification); });
              },
          .agreed =
              [visit, client = &session, upstream_sessions = std::weak_ptr(upstream_sessions)](
                  const providers::UpstreamSettings& upstream, std::optional<client::ResumedSession> held) {
                const auto alive = upstream_sessions.lock();
                if (!alive) return;
                alive->note(upstream, std::move(held));
                visit([&](server::Listener&) { client->set_state(alive->state()); });
              },
          .logs =
              [visit, client = &session] {
                LogWish wish = LogWish::none;
                visit([&](server::Listener&) { wish = wish_of(client->log_level()); });
                return wish;
              },
          .lists = upstream_sessions->lists()};
}

}  // namespace proteus::gateway
