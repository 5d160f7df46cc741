#include "gateway/bridge/hearing.hpp"

#include <algorithm>
#include <map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "base/task_group.hpp"
#include "gateway/bridge/session_lines.hpp"
#include "gateway/upstream_errors.hpp"
#include "gateway/worker.hpp"
#include "providers/declaring.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// What the client of a session can do is declared to the upstream's session; who is asked is decided by the request.
client::Handlers declared(const mcp::ClientCapabilities& client) {
  client::Handlers handlers;
  if (client.elicitation_form) handlers.elicit_form = providers::refuse_question;
  if (client.elicitation_url) handlers.elicit_url = providers::refuse_question;
  if (client.sampling) handlers.sample = providers::refuse_question;
  if (client.roots) handlers.list_roots = providers::refuse_question;
  handlers.sample_with_tools = client.sampling_tools;
  handlers.apply_defaults = false;
  return handlers;
}

Task<> nothing() { co_return; }

bool is_legacy(const ServedUpstream& served) {
  const auto facts = served->facts();
  return facts && facts->era() == mcp::Era::legacy;
}

// Who may have a resource: the one whose it is in the view, or else all that are listed live.
std::vector<ServedUpstream> holders_of(const std::string& uri, const catalog::View& view,
                                       const UpstreamTable& upstreams) {
  auto found = view.find(catalog::Kind::resource, uri);
  if (!found) found = view.match_template(uri);
  if (found) {
    const ServedUpstream* const served = upstreams.find(found.snapshot->upstream().value());
    // What is answered within the process is told of within the process.
    if (served == nullptr) return {};
    return {*served};
  }
  std::vector<ServedUpstream> live;
  for (const ServedUpstream& served : upstreams.order) {
    if (!served->is_direct() || !view.access().allows(served->name())) continue;
    const auto facts = served->facts();
    if (facts && facts->offers.subscribe) live.push_back(served);
  }
  return live;
}

Task<Hearing::Refused> follow_on(Worker& worker, ServedUpstream upstream, std::string principal,
                                 std::vector<std::string> uris) {
  co_return co_await worker.line_of(upstream, principal)->follow(std::move(uris));
}

Task<Hearing::Refused> follow_on(std::shared_ptr<CallerLine> line, std::vector<std::string> uris) {
  co_return co_await line->follow(std::move(uris));
}

Task<> open_line(Worker& worker, ServedUpstream upstream, std::string principal) {
  const auto line = worker.line_of(upstream, principal);
  if (!line->use()) co_await line->ready();
}

Hearing::Refused all_refused(std::vector<std::string> uris, const Error& why) {
  Hearing::Refused refused;
  refused.reserve(uris.size());
  for (auto& uri : uris)
    refused.push_back({std::move(uri), why});
  return refused;
}

Hearing::Refused for_caller(Hearing::Refused refused, std::string_view upstream) {
  for (auto& [uri, why] : refused) {
    log::info("upstream {} does not tell of updates of {}: {}", upstream, log::printable(uri, 200), why.message());
    why = gateway::for_caller(std::move(why), upstream);
  }
  return refused;
}

}  // namespace

// One `follow`, and what has become of each resource so far.
struct Hearing::Asking {
  Worker& here;
  const server::Caller& caller;
  server::Session* session;
  struct Answers {
    std::size_t asked = 0;
    std::vector<Error> refusals;
  };
  std::map<std::string, Answers> answers;
};

Hearing::Hearing(std::vector<Worker*> workers, server::Listeners& listeners)
    : workers_(std::move(workers)), listeners_(listeners) {
  for (Worker* worker : workers_) {
    worker->set_hearers([this, worker](const std::string& principal) { return hearer_of(principal, *worker); });
  }
  listeners_.set_on_streams([this](const std::string& principal) { streams_changed(principal); });
}

Worker& Hearing::home_of(const std::string& principal) const {
  return *workers_[std::hash<std::string>{}(principal) % workers_.size()];
}

void Hearing::streams_changed(const std::string& principal) {
  Worker& home = home_of(principal);
  asio::post(home.io(), [this, principal] { update(principal); });
}

// On the thread of its home: requests of a principal that listens all go over the line that is listened to.
void Hearing::update(const std::string& principal) {
  Worker& home = home_of(principal);
  std::optional<Home> entry;
  if (listeners_.wanted_by_streams(principal)) entry = Home{&home, home.lists_of(principal)};
  for (Worker* worker : workers_)
    asio::dispatch(worker->io(), [worker, principal, entry] { worker->set_home(principal, entry); });
  home.renew_lines(principal);
}

Hearer Hearing::hearer_of(const std::string& principal, Worker& worker) {
  if (&home_of(principal) != &worker) {
    return {.wanted = [] { return std::nullopt; },
            .attached = [] { return false; },
            .list_changed = [](mcp::Method) {},
            .resource_updated = [](const std::string&) {},
            .lists = std::make_shared<OwnLists>()};
  }
  return {.wanted = [this, principal] { return listeners_.wanted_by_streams(principal); },
          .attached = [this, principal] { return listeners_.wanted_by_streams(principal).has_value(); },
          .list_changed =
              [this, principal](mcp::Method changed) {
                listeners_.visit_streams(principal, [&](server::Listener& stream) { stream.list_changed(changed); });
              },
          .resource_updated =
              [this, principal](const std::string& uri) {
                listeners_.visit_streams(principal, [&](server::Listener& stream) { stream.resource_updated(uri); });
              },
          .lists = worker.lists_of(principal)};
}

Hearer Hearing::hearer_of(server::Session& session) {
  const std::shared_ptr<SessionLines> lines = SessionLines::of(session);
  // A line may outlive the session for a moment.
  const auto visit = [this, gone = std::weak_ptr(lines), client = &session](const server::Listeners::Visit& visit) {
    if (const auto alive = gone.lock()) listeners_.visit(client, visit);
  };
  return {
      .wanted =
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
      .list_changed =
          [visit](mcp::Method changed) { visit([&](server::Listener& listener) { listener.list_changed(changed); }); },
      .resource_updated =
          [visit](const std::string& uri) {
            visit([&](server::Listener& listener) { listener.resource_updated(uri); });
          },
      .lists = lines->lists()};
}

std::shared_ptr<CallerLine> Hearing::line_of(Worker& here, server::Session& session, const ServedUpstream& upstream) {
  return SessionLines::of(session)->get(upstream.instance, [&] {
    client::Options options = upstream->options();
    options.handlers = declared(
        mcp::parse_client_capabilities(session.hello().client_capabilities).value_or(mcp::ClientCapabilities{}));
    return CallerLine::make(here, upstream, std::move(options), hearer_of(session));
  });
}

void Hearing::session_listens(server::Session& session) {
  const auto lines = SessionLines::find(session);
  if (!lines) return;
  for (const auto& line : lines->all())
    asio::post(line->worker().io(), [weak = std::weak_ptr(line)] {
      if (const auto alive = weak.lock()) alive->renew();
    });
}

// What was posted to them before has reached all workers when this ends.
Task<> Hearing::tell_everybody() {
  for (Worker* worker : workers_)
    co_await asio::co_spawn(worker->io(), nothing(), asio::use_awaitable);
}

Task<Hearing::Refused> Hearing::follow(Worker& here, const server::Caller& caller, server::Session* session,
                                       const mcp::SubscriptionFilter& accepted) {
  const UpstreamTable& upstreams = here.upstreams();
  const bool any_legacy = std::ranges::any_of(upstreams.order, is_legacy);
  if (session == nullptr && any_legacy) {
    co_await asio::co_spawn(home_of(caller.principal).io(), nothing(), asio::use_awaitable);
    co_await tell_everybody();
    co_await open_live_lines(here, caller, accepted);
  }
  if (accepted.uris.empty()) co_return Refused{};

  const auto view = here.view(caller, session);
  const auto asking = std::make_shared<Asking>(Asking{here, caller, session, {}});
  std::map<std::uint64_t, std::pair<ServedUpstream, std::vector<std::string>>> by_upstream;
  for (const auto& uri : accepted.uris) {
    for (auto& served : holders_of(uri, *view, here.upstreams())) {
      ++asking->answers[uri].asked;
      auto& [upstream, uris] = by_upstream[served.instance];
      upstream = std::move(served);
      uris.push_back(uri);
    }
  }
  TaskGroup group(here.io().get_executor());
  for (auto& [instance, entry] : by_upstream)
    group.spawn("following resources", ask_aside(asking, std::move(entry.first), std::move(entry.second)));
  co_await group.join();
  Refused refused;
  for (auto& [uri, answers] : asking->answers) {
    if (answers.refusals.size() == answers.asked) refused.push_back({uri, std::move(answers.refusals.front())});
  }
  co_return refused;
}

Task<> Hearing::ask_aside(std::shared_ptr<Asking> asking, ServedUpstream upstream, std::vector<std::string> uris) {
  const auto all = uris;
  Refused refused;
  try {
    refused = co_await ask(asking->here, asking->caller, asking->session, std::move(upstream), std::move(uris));
  } catch (const std::exception& fault) {
    refused = all_refused(all, errors::internal(fault.what()));
  }
  for (auto& [uri, why] : refused)
    asking->answers[uri].refusals.push_back(std::move(why));
}

Task<Hearing::Refused> Hearing::ask(Worker& here, const server::Caller& caller, server::Session* session,
                                    ServedUpstream upstream, std::vector<std::string> uris) {
  const auto facts = upstream->facts();
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
    co_return for_caller(std::move(refused), name);
  }
  if (session != nullptr) {
    const auto line = line_of(here, *session, upstream);
    co_return for_caller(
        co_await asio::co_spawn(line->worker().io(), follow_on(line, std::move(uris)), asio::use_awaitable), name);
  }
  Worker& home = home_of(caller.principal);
  co_return for_caller(co_await asio::co_spawn(home.io(), follow_on(home, upstream, caller.principal, std::move(uris)),
                                               asio::use_awaitable),
                       name);
}

// What is listed live changes for each caller by itself, and nobody else hears of it.
Task<> Hearing::open_live_lines(Worker& here, const server::Caller& caller, const mcp::SubscriptionFilter& accepted) {
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
