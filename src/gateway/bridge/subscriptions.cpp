#include "gateway/bridge/subscriptions.hpp"

#include <algorithm>
#include <map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/tasks/task_group.hpp"
#include "gateway/bridge/task_questions.hpp"
#include "gateway/connections/upstream_sessions_of_client.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/routing/route.hpp"
#include "gateway/routing/task_translation.hpp"
#include "gateway/upstreams/upstream_errors.hpp"
#include "json/text.hpp"
#include "providers/declaring.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// Time that a client has to answer questions that belong to none of its requests. Questions about roots get the
// upstream's time-out, because calls wait for them.
constexpr std::chrono::minutes kOutsideAnswer{5};

// Declares the client's capabilities to the upstream session. Questions during a request go to that request's handlers;
// these handlers take all others.
client::Handlers handlers_of(server::Session& session, const std::string& upstream,
                             std::chrono::milliseconds roots_within) {
  const auto client =
      mcp::parse_client_capabilities(session.hello().client_capabilities).value_or(mcp::ClientCapabilities{});
  const auto asking = [&](std::chrono::milliseconds within) {
    client::Handler ask = [requests = session.shared_client_requests(), stream = session.outside(),
                           within](client::Question question) {
      mcp::InputRequest request{{},
                                question.method,
                                question.params.empty() ? "{}" : std::move(question.params),
                                std::move(question.on_progress)};
      return server::ClientRequests::ask(requests, std::move(request), stream, within);
    };
    return with_task_ids(std::move(ask), UpstreamSessionsOfClient::of(session)->tasks(), upstream);
  };
  client::Handlers handlers;
  if (client.elicitation_form) handlers.elicit_form = asking(kOutsideAnswer);
  if (client.elicitation_url) handlers.elicit_url = asking(kOutsideAnswer);
  if (client.sampling) handlers.sample = asking(kOutsideAnswer);
  if (client.roots) handlers.list_roots = asking(roots_within);
  handlers.sample_with_tools = client.sampling_tools;
  handlers.roots_list_changed = client.roots_list_changed;
  handlers.apply_defaults = false;
  return handlers;
}

// Client info without a name and a version is not used: an upstream that checks it would refuse the session.
bool names_client(std::string_view info) {
  return json::is_string(json::find_member(info, "name")) && json::is_string(json::find_member(info, "version"));
}

Task<> nothing() { co_return; }

bool is_legacy(const ServedUpstream& served) {
  const auto facts = served->facts();
  return facts && facts->era() == mcp::Era::legacy;
}

Task<Subscriptions::Refused> follow_on(Worker& worker, ServedUpstream upstream, std::string principal,
                                       std::vector<std::string> uris) {
  co_return co_await worker.upstream_session_of(upstream, principal)->follow(std::move(uris));
}

Task<Subscriptions::Refused> follow_on(std::shared_ptr<UpstreamSession> upstream_session,
                                       std::vector<std::string> uris) {
  co_return co_await upstream_session->follow(std::move(uris));
}

Task<> open_line(Worker& worker, ServedUpstream upstream, std::string principal) {
  const auto upstream_session = worker.upstream_session_of(upstream, principal);
  if (!upstream_session->use()) co_await upstream_session->ready();
}

// A session subscribes where its calls go, because updates that they cause may be announced only there. If the legacy
// side has no subscriptions, the modern side may have them.
std::shared_ptr<const client::ServerFacts> facts_for(server::Session* session, const Route& route) {
  auto facts = route.upstream->facts();
  if (session == nullptr || !facts || facts->era() == mcp::Era::legacy) return facts;
  auto legacy = legacy_facts(route);
  return legacy && legacy->offers.subscribe ? legacy : facts;
}

Subscriptions::Refused all_refused(std::vector<std::string> uris, const Error& why) {
  Subscriptions::Refused refused;
  refused.reserve(uris.size());
  for (auto& uri : uris)
    refused.push_back({std::move(uri), why});
  return refused;
}

Subscriptions::Refused for_caller(Subscriptions::Refused refused, const providers::Upstream& upstream) {
  for (auto& [uri, why] : refused) {
    upstream.log().note(log::Level::info, "does not tell of updates of {}: {}", log::printable(uri, 200),
                        why.message());
    why = gateway::for_caller(std::move(why), upstream);
  }
  return refused;
}

}  // namespace

// The resources to subscribe to at one upstream, in one era.
struct Subscriptions::Followed {
  ServedUpstream upstream;
  std::shared_ptr<const client::ServerFacts> facts;
  std::vector<std::string> uris;
};

// One call of `follow`, and the subscriptions refused so far.
struct Subscriptions::Asking {
  Worker& here;
  const server::Caller& caller;
  server::Session* session;
  Refused refused = {};
};

Subscriptions::Subscriptions(std::vector<Worker*> workers, server::Listeners& listeners)
    : workers_(std::move(workers)), listeners_(listeners) {
  for (Worker* worker : workers_) {
    worker->set_observers([this, worker](const std::string& principal) { return observer_of(principal, *worker); });
  }
  listeners_.set_on_streams([this](const std::string& principal) { streams_changed(principal); });
}

Worker& Subscriptions::home_of(const std::string& principal) const {
  return *workers_[std::hash<std::string>{}(principal) % workers_.size()];
}

void Subscriptions::streams_changed(const std::string& principal) {
  Worker& home = home_of(principal);
  asio::post(home.io(), [this, principal] { update(principal); });
}

// Runs on the thread of the principal's home. While a principal listens, all its requests use the upstream sessions
// there.
void Subscriptions::update(const std::string& principal) {
  Worker& home = home_of(principal);
  std::optional<Home> entry;
  if (listeners_.wanted_by_streams(principal)) entry = Home{&home, home.lists_of(principal)};
  for (Worker* worker : workers_)
    asio::dispatch(worker->io(), [worker, principal, entry] { worker->set_home(principal, entry); });
  home.renew_upstream_sessions(principal);
}

std::shared_ptr<UpstreamSession> Subscriptions::upstream_session_of(Worker& here, server::Session& session,
                                                                    const ServedUpstream& upstream) {
  return UpstreamSessionsOfClient::of(session)->get(upstream.instance, [&] {
    client::Options options = upstream->options();
    // An upstream that speaks both eras is addressed in the era of the client.
    if (upstream->is_modern()) options.era = mcp::Era::legacy;
    // The upstream session serves this client alone, so it may have the client's name.
    if (names_client(session.hello().client_info)) options.client_info = session.hello().client_info;
    options.handlers = handlers_of(session, upstream->settings().name, options.timeout);
    options.owner = client::Owner::session;
    options.resumed = UpstreamSessionsOfClient::of(session)->take_left(upstream->settings());
    if (upstream->is_per_caller()) options.authorizer = here.authorizer_for(upstream, *session.caller());
    return UpstreamSession::make(here, upstream, std::move(options), observer_of(session));
  });
}

void Subscriptions::session_listens(server::Session& session) {
  const auto upstream_sessions = UpstreamSessionsOfClient::find(session);
  if (!upstream_sessions) return;
  for (const auto& upstream_session : upstream_sessions->all())
    asio::post(upstream_session->worker().io(), [weak = std::weak_ptr(upstream_session)] {
      if (const auto alive = weak.lock()) alive->renew();
    });
}

void Subscriptions::leave(server::Session& session) {
  const auto upstream_sessions = UpstreamSessionsOfClient::find(session);
  if (!upstream_sessions) return;
  // Held until then, so that the upstream session is not closed before.
  for (const auto& upstream_session : upstream_sessions->all())
    asio::post(upstream_session->worker().io(), [upstream_session] { upstream_session->leave(); });
}

void Subscriptions::client_notified(server::Session& session, const json::Message& notification) {
  const auto upstream_sessions = UpstreamSessionsOfClient::find(session);
  if (!upstream_sessions) return;
  const bool roots_changed = notification.method == mcp::to_string(mcp::Method::roots_changed);
  for (const auto& upstream_session : upstream_sessions->all())
    asio::post(upstream_session->worker().io(), [weak = std::weak_ptr(upstream_session),
                                                 text = std::string(notification.text), roots_changed]() mutable {
      if (const auto alive = weak.lock()) alive->notify(std::move(text), roots_changed);
    });
}

// Returns when all workers have run what was posted to them before.
Task<> Subscriptions::tell_everybody() {
  for (Worker* worker : workers_)
    co_await asio::co_spawn(worker->io(), nothing(), asio::use_awaitable);
}

Task<Subscriptions::Refused> Subscriptions::follow(Worker& here, const server::Caller& caller, server::Session* session,
                                                   const mcp::SubscriptionFilter& accepted, const RouteOf& route_of) {
  const bool any_legacy = std::ranges::any_of(here.upstreams().order, is_legacy);
  if (session == nullptr && any_legacy) {
    co_await asio::co_spawn(home_of(caller.principal).io(), nothing(), asio::use_awaitable);
    co_await tell_everybody();
    co_await open_live_lines(here, caller, accepted);
  }
  if (accepted.uris.empty()) co_return Refused{};

  const auto asking = std::make_shared<Asking>(Asking{here, caller, session});
  std::map<std::pair<std::uint64_t, bool>, Followed> by_upstream;
  for (const auto& uri : accepted.uris) {
    // Templates may be slow to match, so other requests get a turn after each.
    co_await asio::post(here.io(), asio::use_awaitable);
    const auto route = co_await route_of(uri);
    if (!route) {
      asking->refused.push_back({uri, route.error()});
      continue;
    }
    // Resources of local providers are announced within the process.
    if (!route->upstream) continue;
    if (on_follow_) on_follow_(uri, route->upstream->name());
    auto facts = facts_for(session, *route);
    const bool legacy = facts && facts->era() == mcp::Era::legacy;
    Followed& followed = by_upstream[{route->upstream.instance, legacy}];
    followed.upstream = route->upstream;
    followed.facts = std::move(facts);
    followed.uris.push_back(uri);
  }
  TaskGroup group(here.io().get_executor());
  for (auto& [key, followed] : by_upstream)
    group.spawn("following resources", ask_aside(asking, std::move(followed)));
  co_await group.join();
  co_return std::move(asking->refused);
}

Task<> Subscriptions::ask_aside(std::shared_ptr<Asking> asking, Followed followed) {
  const auto all = followed.uris;
  Refused refused;
  try {
    refused = co_await ask(asking->here, asking->caller, asking->session, std::move(followed));
  } catch (const std::exception& fault) {
    refused = all_refused(all, errors::internal(fault.what()));
  }
  std::ranges::move(refused, std::back_inserter(asking->refused));
}

Task<Subscriptions::Refused> Subscriptions::ask(Worker& here, const server::Caller& caller, server::Session* session,
                                                Followed followed) {
  auto& [upstream, facts, uris] = followed;
  const std::string& name = upstream->settings().name;
  if (!facts)
    co_return all_refused(std::move(uris), errors::unreachable(fmt::format("upstream {} is not there", name)));
  if (!facts->offers.subscribe) {
    co_return all_refused(std::move(uris),
                          errors::unsupported(fmt::format("upstream {} does not tell of updates", name)));
  }
  if (facts->era() == mcp::Era::modern) {
    Refused refused;
    for (auto& uri : uris) {
      const auto told = co_await upstream->tells_of(uri);
      if (!told) refused.push_back({std::move(uri), told.error()});
    }
    co_return for_caller(std::move(refused), *upstream.upstream);
  }
  if (session != nullptr) {
    const auto upstream_session = upstream_session_of(here, *session, upstream);
    co_return for_caller(co_await asio::co_spawn(upstream_session->worker().io(),
                                                 follow_on(upstream_session, std::move(uris)), asio::use_awaitable),
                         *upstream.upstream);
  }
  Worker& home = home_of(caller.principal);
  co_return for_caller(co_await asio::co_spawn(home.io(), follow_on(home, upstream, caller.principal, std::move(uris)),
                                               asio::use_awaitable),
                       *upstream.upstream);
}

// Lists that are read live change for each caller separately: only the caller's own upstream session announces that.
Task<> Subscriptions::open_live_lines(Worker& here, const server::Caller& caller,
                                      const mcp::SubscriptionFilter& accepted) {
  const auto& access = principal_of(caller).access();
  Worker& home = home_of(caller.principal);
  TaskGroup group(here.io().get_executor());
  const auto open = [](Worker& worker, ServedUpstream served, std::string principal) -> Task<> {
    co_await asio::co_spawn(worker.io(), open_line(worker, std::move(served), std::move(principal)),
                            asio::use_awaitable);
  };
  for (const ServedUpstream& served : here.upstreams().order) {
    if (!served->is_direct() || !is_legacy(served) || !access.allows(served->name())) continue;
    const auto& offers = served->facts()->offers;
    const bool announces = (accepted.tools && offers.tools.list_changed) ||
                           (accepted.prompts && offers.prompts.list_changed) ||
                           (accepted.resources && offers.resources.list_changed);
    if (announces) group.spawn("listening for a caller", open(home, served, caller.principal));
  }
  co_await group.join();
}

}  // namespace proteus::gateway
