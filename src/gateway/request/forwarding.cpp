#include "gateway/request/forwarding.hpp"

#include <algorithm>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "gateway/bridge/task_questions.hpp"
#include "gateway/connections/upstream_sessions_of_client.hpp"
#include "gateway/routing/task_translation.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

Task<Result<client::Answer>> request_from_home(Worker& home, ServedUpstream upstream, std::string principal,
                                               mcp::Method method, client::Params params,
                                               client::RequestOptions options, LogWish logs) {
  co_return co_await UpstreamSession::request(home.upstream_session_of(upstream, principal), method, std::move(params),
                                              std::move(options), logs);
}

Task<Result<client::Answer>> request_on(CallerConnection connection, mcp::Method method, client::Params params,
                                        client::RequestOptions options) {
  co_return co_await connection->request(method, std::move(params), std::move(options));
}

// Adds the caller's parameter headers that we do not know, because they may mean something to the upstream (2026-07-28,
// "Custom Headers from Tool Parameters": intermediaries forward them).
void add_unknown_parameters(const net::Fields& fields, std::vector<client::Header>& headers) {
  constexpr std::string_view kPrefix = "Mcp-Param-";
  for (const auto& field : fields) {
    if (field.name.size() <= kPrefix.size() || !net::same_field_name(field.name.substr(0, kPrefix.size()), kPrefix)) {
      continue;
    }
    const bool known = std::ranges::any_of(
        headers, [&](const client::Header& header) { return net::same_field_name(header.first, field.name); });
    if (!known) headers.emplace_back(field.name, field.value);
  }
}

// Clears `running` when the request ends, on the request's thread, so that no cancellation is emitted after that.
Task<Result<client::Answer>> run_noted(Task<Result<client::Answer>> request, std::shared_ptr<bool> running) {
  const std::shared_ptr<void> end(nullptr, [running](void*) { *running = false; });
  co_return co_await std::move(request);
}

using FactsOrError = Result<std::shared_ptr<const client::ServerFacts>>;

Task<FactsOrError> open_control(std::shared_ptr<providers::Upstream> upstream) {
  co_return co_await upstream->control().open();
}

// Returns what the server says about itself. Uses the connection that a modern server would get the request on.
Task<FactsOrError> find_out(ServedUpstream upstream, Worker& worker, std::shared_ptr<client::Authorizer> authorizer) {
  if (std::holds_alternative<net::Command>(upstream->endpoint())) {
    co_return co_await asio::co_spawn(upstream->io(), open_control(upstream.upstream), asio::use_awaitable);
  }
  const CallerConnection connection = worker.shared_connection(upstream);
  co_return co_await connection->open(std::move(authorizer));
}

Task<Result<Forwarded>> refuse(Error why) { co_return std::unexpected(std::move(why)); }

}  // namespace

Forwarding::Forwarding(server::Call& call, Worker& worker, BridgeDependencies reach, const Route& route,
                       std::string_view arguments)
    : call_(call),
      worker_(worker),
      bridge_(reach),
      route_(route),
      arguments_(arguments),
      authorizer_(worker.authorizer_for(route.upstream, call.caller(), call.authorization())) {}

LogWish Forwarding::logs_wanted() const {
  const auto level = call_.request().log_level;
  if (!level || !facts_ || facts_->era() != mcp::Era::legacy || !facts_->offers.logging) return LogWish::none;
  return call_.session() == nullptr ? LogWish::all : wish_of(*level);
}

// Mirrors the arguments as the upstream gets them, by the upstream's own definition. The caller may know neither.
std::vector<client::Header> Forwarding::mirrored_of_shaped() const {
  const auto& parameters = route_.shaped->mirrored;
  std::vector<client::Header> headers;
  if (const auto arguments = json::parse(arguments_); arguments && !parameters.empty())
    headers = mcp::mirror(parameters, *arguments).value_or(std::vector<client::Header>());
  if (call_.fields() == nullptr) return headers;
  std::vector<client::Header> unknown;
  add_unknown_parameters(*call_.fields(), unknown);
  for (auto& header : unknown) {
    const bool known = std::ranges::any_of(parameters, [&](const mcp::MirroredParameter& parameter) {
      return net::same_field_name(parameter.header, header.first);
    });
    if (!known) headers.push_back(std::move(header));
  }
  return headers;
}

std::vector<client::Header> Forwarding::mirrored() const {
  if (!arguments_.empty()) return mirrored_of_shaped();
  std::vector<client::Header> headers;
  const auto* const parameters = route_.found ? route_.found.definition->mirrored : route_.mirrored.get();
  if (parameters != nullptr) {
    if (const auto arguments = json::parse(call_.request().param("arguments")))
      headers = mcp::mirror(*parameters, *arguments).value_or(std::vector<client::Header>());
  }
  if (call_.fields() != nullptr && call_.request().method->method == mcp::Method::tools_call) {
    add_unknown_parameters(*call_.fields(), headers);
  }
  return headers;
}

// Reads of anonymous callers leave nothing behind, so each worker may have a session for them. If anonymous callers
// listen, the session that listens is used.
Worker& Forwarding::home() {
  const std::string& principal = call_.caller().principal;
  const bool shared =
      facts_->keeps_session && route_.upstream->settings().anonymous_sessions == providers::AnonymousSessions::shared;
  if (!principal.empty() || shared) return bridge_.subscriptions.home_of(principal);
  const Home* const home = worker_.home_of(principal);
  return home != nullptr ? *home->worker : worker_;
}

bool Forwarding::needs_own_session() const {
  return call_.caller().principal.empty() && call_.request().method->method == mcp::Method::tools_call &&
         facts_->keeps_session &&
         route_.upstream->settings().anonymous_sessions == providers::AnonymousSessions::per_call;
}

Forwarding::Lane Forwarding::choose_lane() {
  const bool legacy = facts_ && facts_->era() == mcp::Era::legacy;
  const Executor own_thread = worker_.io().get_executor();
  if (legacy && call_.session() != nullptr) return session_lane();
  if (legacy) {
    Worker& found = home();
    const bool here = &found == &worker_;
    return {.thread = found.io().get_executor(),
            .here = here,
            .upstream_session = here ? worker_.upstream_session_of(route_.upstream, call_.caller().principal) : nullptr,
            .home = &found};
  }
  // A modern program keeps no state for callers, so the one that is already running serves all.
  if (std::holds_alternative<net::Command>(route_.upstream->endpoint())) {
    auto& io = route_.upstream->io();
    return {io.get_executor(), {route_.upstream.upstream, &route_.upstream->control()}, &io == &worker_.io()};
  }
  return {own_thread, worker_.shared_connection(route_.upstream)};
}

Forwarding::Lane Forwarding::session_lane() {
  server::Session& session = *call_.session();
  auto upstream_session = bridge_.subscriptions.upstream_session_of(worker_, session, route_.upstream);
  if (upstream_session->may_ask() && !session.hears()) {
    way_.emplace(session.outside(), call_, worker_.io().get_executor());
  }
  const bool here = &upstream_session->worker() == &worker_;
  return {.thread = upstream_session->worker().io().get_executor(),
          .here = here,
          .upstream_session = std::move(upstream_session)};
}

Task<Result<client::Answer>> Forwarding::request(Lane lane, client::Params params, client::RequestOptions options) {
  const mcp::Method method = call_.request().method->method;
  if (lane.upstream_session)
    return UpstreamSession::request(lane.upstream_session, method, std::move(params), std::move(options),
                                    logs_wanted());
  if (lane.home != nullptr) {
    return request_from_home(*lane.home, route_.upstream, call_.caller().principal, method, std::move(params),
                             std::move(options), logs_wanted());
  }
  return request_on(lane.connection, method, std::move(params), std::move(options));
}

std::shared_ptr<const client::Handlers> Forwarding::session_handlers() {
  auto handlers = std::make_shared<client::Handlers>();
  if (!asks_) asks_ = std::make_shared<ClientAsks>(call_, worker_.io().get_executor());
  client::Handler asking = [asks = asks_](client::Question question) {
    return ClientAsks::ask(asks, std::move(question));
  };
  const client::Handler ask = with_task_ids(std::move(asking), UpstreamSessionsOfClient::of(*call_.session())->tasks(),
                                            route_.upstream->settings().name);
  const mcp::ClientCapabilities& client = call_.client();
  if (client.elicitation_form) handlers->elicit_form = ask;
  if (client.elicitation_url) handlers->elicit_url = ask;
  if (client.sampling) handlers->sample = ask;
  if (client.roots) handlers->list_roots = ask;
  handlers->sample_with_tools = client.sampling_tools;
  handlers->apply_defaults = false;
  return handlers;
}

client::RequestOptions Forwarding::options(const Lane& lane) {
  const mcp::Request& request = call_.request();
  const auto& settings = route_.upstream->settings();
  client::RequestOptions options;
  options.meta = forwarded_meta(request, settings.propagates_meta() ? Propagate::all : Propagate::trace_context);
  options.inputs = client::Inputs::hand_back;
  options.log_level = request.log_level;
  if (facts_ && facts_->era() == mcp::Era::legacy) {
    if (call_.session() != nullptr && lane.here) options.make_handlers = [this] { return session_handlers(); };
    if (call_.session() != nullptr && !lane.here) options.handlers = session_handlers();
  } else {
    options.capabilities = request.client_capabilities;
    // SEP-2663: the extension enables nothing in earlier revisions.
    if (call_.session() != nullptr && request.client_capabilities.contains(mcp::kTaskExtension))
      options.capabilities = mcp::write_client_capabilities(call_.client());
  }
  options.progress = !request.progress_token.empty();
  options.on_notification = [this, here = lane.here](const json::Message& message) {
    std::string text = forwarded_notification(message, call_.request());
    if (text.empty()) return;
    if (!here)
      return asio::post(worker_.io(), [this, text = std::move(text)]() mutable { call_.send(std::move(text)); });
    const bool with_answer = pending_ != nullptr && pending_->is_all_here();
    with_answer ? call_.send_with_answer(std::move(text)) : call_.send(std::move(text));
  };
  options.headers = mirrored();
  options.authorizer = authorizer_;
  // If the upstream has changed its era, a request that was written for the modern one must not be sent: it would run
  // in a session that all callers share.
  const bool modern = facts_ ? facts_->era() == mcp::Era::modern : params_ || route_.upstream->is_modern();
  if (modern) options.era = mcp::Era::modern;
  if (!modern && facts_ && route_.upstream->waits_for_callers()) options.era = mcp::Era::legacy;
  if (route_.shaped) options.timeout = route_.shaped->timeout;
  return options;
}

Task<Result<Forwarded>> Forwarding::run() {
  // The caller may have cancelled between two attempts.
  if (call_.cancellation().requested()) return refuse(errors::cancelled("the request"));
  // A modern upstream needs no further discovery, unless it also speaks the era of a legacy client.
  const bool modern = route_.upstream->is_modern();
  facts_ = !modern ? route_.upstream->facts() : call_.session() != nullptr ? legacy_facts(route_) : nullptr;
  return modern || facts_ ? run_known() : run_unknown();
}

// The upstream has not answered since the gateway started. Whether it keeps sessions must be known before the request
// is sent, because a session must not be shared by all callers.
Task<Result<Forwarded>> Forwarding::run_unknown(std::optional<client::Params> list) {
  auto found = co_await find_out(route_.upstream, worker_, authorizer_);
  if (!found) co_return std::unexpected(std::move(found.error()));
  if (call_.cancellation().requested()) co_return std::unexpected(errors::cancelled("the request"));
  if ((*found)->era() == mcp::Era::legacy) facts_ = std::move(*found);
  co_return co_await (list ? run(std::move(*list)) : run_known());
}

Task<Result<Forwarded>> Forwarding::run_known() {
  const bool legacy = facts_ && facts_->era() == mcp::Era::legacy;
  if (asks_for_task(call_.request()) && !(legacy && facts_->offers.tasks)) [[unlikely]]
    return refuse(mcp::errors::method_not_found(fmt::format("{} as a task", call_.request().name)));
  params_.emplace(call_.request(), task_.empty() ? route_.own : task_, call_.rounds(),
                  facts_ ? facts_->era() : mcp::Era::modern, arguments_);
  if (legacy && call_.session() == nullptr && call_.request().method->may_ask) return run_bridged();
  return run(params_->take());
}

Task<Result<Forwarded>> Forwarding::list(client::Params params) {
  if (call_.session() != nullptr && route_.upstream->is_modern()) facts_ = legacy_facts(route_);
  // A list read with a caller's credentials must not be requested in a shared session, so it must be known first
  // whether the upstream keeps sessions.
  if (authorizer_ && !facts_ && !route_.upstream->is_modern() && !route_.upstream->facts())
    return run_unknown(std::move(params));
  return run(std::move(params));
}

Task<Result<Forwarded>> Forwarding::run(client::Params params) {
  upstream_session_ = nullptr;
  if (!facts_ && !params_ && !route_.upstream->is_modern()) facts_ = route_.upstream->facts();
  if (call_.cancellation().requested()) return refuse(errors::cancelled("the request"));
  Lane lane = choose_lane();
  client::RequestOptions prepared = options(lane);
  if (auto pending = post(lane, params, prepared)) {
    return run_pending(std::move(lane), std::move(pending), std::move(params));
  }
  const Executor thread = lane.thread;
  return run_there(thread, request(std::move(lane), std::move(params), std::move(prepared)));
}

std::shared_ptr<client::PendingRequest> Forwarding::post(const Lane& lane, const client::Params& params,
                                                         client::RequestOptions& options) const {
  const mcp::Method method = call_.request().method->method;
  if (!lane.here) return nullptr;
  if (lane.upstream_session) return lane.upstream_session->post(method, params, options, logs_wanted());
  return lane.connection ? lane.connection->post(method, params, options, client::Stay::here) : nullptr;
}

Task<Result<Forwarded>> Forwarding::run_pending(Lane lane, std::shared_ptr<client::PendingRequest> pending,
                                                client::Params params) {
  std::optional<server::Cancellation::Hook> cancel(std::in_place, call_.cancellation(),
                                                   [&pending] { pending->cancel(); });
  pending_ = pending.get();
  auto polled = pending->poll();
  for (; polled && polled->waits; polled = pending->poll())
    (void)co_await pending->wait();
  pending_ = nullptr;
  cancel.reset();
  if (polled && !polled->answer) {
    if (upstream_session_) co_return co_await go_on_aside(std::move(pending), std::move(params));
    co_return co_await run_there(lane.thread, client::PendingRequest::finish(std::move(pending), std::move(params)));
  }
  if (asks_) co_await stop_asking();
  if (!polled) co_return std::unexpected(std::move(polled.error()));
  co_return std::move(*polled->answer);
}

Task<> Forwarding::stop_asking() {
  const auto asks = std::exchange(asks_, nullptr);
  co_await asks->close();
}

Task<Result<Forwarded>> Forwarding::run_there(Executor thread, Task<Result<client::Answer>> request) {
  auto signal = std::make_shared<asio::cancellation_signal>();
  auto running = std::make_shared<bool>(true);
  const server::Cancellation::Hook cancel(call_.cancellation(), [&] {
    asio::dispatch(thread, [signal, running] {
      if (*running) signal->emit(asio::cancellation_type::terminal);
    });
  });
  Result<client::Answer> answer = std::unexpected(errors::cancelled("the request"));
  try {
    answer = co_await asio::co_spawn(thread, run_noted(std::move(request), running),
                                     asio::bind_cancellation_slot(signal->slot(), asio::use_awaitable));
  } catch (const boost::system::system_error&) {
    // Cancelled: `answer` already says so.
  }
  if (asks_) co_await stop_asking();
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  co_return std::move(*answer);
}

}  // namespace proteus::gateway
