// Requests of modern clients to legacy upstreams, which ask questions while they run.
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "gateway/request/forwarding.hpp"
#include "providers/declaring.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// Refuses questions for roots that belong to no request. A new session may ask for roots on its own while some call
// runs in it. If anonymous callers listen there, that call must not end the session for all of them.
std::shared_ptr<const client::Handlers> without_stray_roots(const client::Handlers& all) {
  auto handlers = std::make_shared<client::Handlers>(all);
  handlers->list_roots = [ask = all.list_roots](client::Question question) {
    return question.during == client::kNoRequest ? providers::refuse_question(std::move(question))
                                                 : ask(std::move(question));
  };
  return handlers;
}

// Copies what the params view, because the call may outlive the request that it came with.
client::Params owned(client::Params params) {
  params.members = mcp::Payload(params.members.str());
  return params;
}

// Sets the connection of a call. If the upstream asks an anonymous caller something, the session is given up, so that
// no other anonymous caller uses it.
void run_on(RunningCall& running, Worker& home, const ServedUpstream& upstream, const std::string& principal,
            const std::shared_ptr<UpstreamSession>& upstream_session) {
  running.set_connection(upstream_session->connection());
  if (!principal.empty()) return;
  running.set_on_asked(
      [&home, upstream, principal, upstream_session] { home.give_up(upstream, principal, upstream_session); });
}

// Keeps the session alive while the request runs.
Task<Result<client::Answer>> go_on(std::shared_ptr<UpstreamSession> upstream_session,
                                   std::shared_ptr<client::PendingRequest> pending, client::Params params) {
  auto answer = co_await client::PendingRequest::finish(std::move(pending), std::move(params));
  upstream_session.reset();
  co_return answer;
}

// Sends the request in the session `own`, or in the caller's usual one if `own` is null.
Task<Result<client::Answer>> request_aside(Worker& home, ServedUpstream upstream, std::string principal,
                                           std::shared_ptr<UpstreamSession> own, std::shared_ptr<RunningCall> running,
                                           mcp::Method method, client::Params params, client::RequestOptions options,
                                           LogWish logs) {
  const auto upstream_session = own ? std::move(own) : home.upstream_session_of(upstream, principal);
  run_on(*running, home, upstream, principal, upstream_session);
  co_return co_await UpstreamSession::request(upstream_session, method, std::move(params), std::move(options), logs);
}

// Sets the handlers and callbacks for everything that arrives from now on.
void attach(client::RequestOptions& options, RunningCall& running, std::shared_ptr<const client::Handlers> handlers) {
  options.handlers = std::move(handlers);
  options.make_handlers = nullptr;
  options.on_notification = [&running](const json::Message& message) { running.notify(message); };
}

}  // namespace

client::RequestOptions Forwarding::bridged_options(const Lane& lane) {
  client::RequestOptions prepared = options(lane);
  if (!prepared.meta.empty()) prepared.meta += ',';
  prepared.meta += fmt::format(R"("{}":{})", mcp::meta::kBehindGateway, call_.request().client_capabilities);
  return prepared;
}

void Forwarding::start_running(Worker& home) {
  const std::string& principal = call_.caller().principal;
  running_ = std::make_shared<RunningCall>(home.io().get_executor(), call_.client());
  running_handlers_ = running_->handlers();
  if (principal.empty() && !needs_own_session() && worker_.home_of(principal) != nullptr) {
    running_handlers_ = without_stray_roots(*running_handlers_);
  }
}

std::shared_ptr<const client::Handlers> Forwarding::running_handlers() {
  if (!running_) {
    start_running(worker_);
    run_on(*running_, worker_, route_.upstream, call_.caller().principal, upstream_session_);
  }
  return running_handlers_;
}

Task<Result<Forwarded>> Forwarding::go_on_aside(std::shared_ptr<client::PendingRequest> pending,
                                                client::Params params) {
  auto handlers = running_handlers();
  attach(pending->options(), *running_, std::move(handlers));
  return run_aside(worker_, go_on(upstream_session_, std::move(pending), owned(std::move(params))));
}

// Nearly all calls are answered without a question, so the answer is first awaited here.
Task<Result<Forwarded>> Forwarding::run_bridged() {
  client::Params params = params_->take();
  const bool own = needs_own_session();
  Worker& found = own ? worker_ : home();
  const bool here = &found == &worker_;
  Lane lane{.thread = found.io().get_executor(), .here = here};
  client::RequestOptions prepared = bridged_options(lane);
  running_ = nullptr;
  if (here) {
    lane.upstream_session = upstream_session_ =
        own ? worker_.fresh_upstream_session(route_.upstream)
            : worker_.upstream_session_of(route_.upstream, call_.caller().principal);
    prepared.make_handlers = [this] { return running_handlers(); };
    if (auto pending = post(lane, params, prepared)) {
      return run_pending(std::move(lane), std::move(pending), std::move(params));
    }
  }
  start_running(found);
  attach(prepared, *running_, running_handlers_);
  return run_aside(found, request_aside(found, route_.upstream, call_.caller().principal,
                                        own ? std::exchange(upstream_session_, nullptr) : nullptr, running_,
                                        call_.request().method->method, owned(std::move(params)), std::move(prepared),
                                        logs_wanted()));
}

Task<Result<Forwarded>> Forwarding::run_aside(Worker& home, Task<Result<client::Answer>> request) {
  auto runs = running_->run(std::move(request));
  if (&home == &worker_) {
    worker_.run("a call", std::move(runs));
  } else {
    asio::post(home.io(), [&home, runs = std::move(runs)]() mutable { home.run("a call", std::move(runs)); });
  }
  co_return co_await wait_for_call(call_, worker_, bridge_.parked,
                                   {running_, route_.upstream, call_.caller().principal});
}

}  // namespace proteus::gateway
