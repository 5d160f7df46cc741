// Requests about tasks, and calls that begin a task.
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/tasks/task_group.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/connections/upstream_sessions_of_client.hpp"
#include "gateway/request/errand.hpp"
#include "gateway/request/route_finder.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/caller_lists.hpp"
#include "gateway/routing/scope_check.hpp"
#include "gateway/routing/task_translation.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {
namespace {

// Tasks on one page of a list. Each costs a request to an upstream.
constexpr std::size_t kTasksOfPage = 16;

// Returns the number in a cursor, 0 for none or an empty one; nothing if it is no cursor of ours.
std::optional<std::uint64_t> number_in(std::string_view cursor) {
  if (cursor.empty()) return 0;
  const auto text = json::decode_string(cursor);
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  if (text->empty()) return 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// A `tasks/get` on behalf of another request of the same session; sends the client nothing.
class TaskRequest final : public server::CallChannel {
 public:
  TaskRequest(server::Call& asker, std::string_view id)
      : text_(fmt::format(R"({{"jsonrpc":"2.0","id":0,"method":"{}","params":{{"taskId":{}}}}})",
                          mcp::to_string(mcp::Method::tasks_get), json::quote(id))),
        cancellation_(asker.cancellation()) {
    if (!json::scan_into(message_, text_)) throw std::logic_error("a request of our own is no JSON");
    request_ = mcp::legacy::decode(message_, asker.session()->facts()).value();
    request_.log_level.reset();
    call_.emplace(request_, asker.caller(), *this);
    call_->join(*asker.session(), {});
    call_->set_authorization(asker.authorization());
    // The place of the original request covers all of its task requests.
    call_->hold_place(std::make_shared<int>());
  }

  server::Call& call() { return *call_; }

  void send(std::string) override {}
  void release(std::chrono::milliseconds) override {}
  server::Cancellation& cancellation() override { return cancellation_; }

 private:
  const std::string text_;
  json::Message message_;
  mcp::Request request_;
  server::Cancellation& cancellation_;
  std::optional<server::Call> call_;
};

}  // namespace

Task<mcp::Outcome> GatewayService::about_tasks(server::Call& call, const Timing& timing) {
  Worker& worker = here();
  const mcp::Request& request = call.request();
  const auto offered = offered_to(*worker.view(call), worker.upstreams(), request.era());
  if (!mcp::offers(offered, request.method->method))
    return timing.refuse(mcp::errors::method_not_found(request.method->name));
  if (request.method->method == mcp::Method::tasks_list) return timing.around(list_tasks(call));
  return ask_about_task(call, timing);
}

Task<mcp::Outcome> GatewayService::list_tasks(server::Call& call) {
  const auto place = take_place(call, here());
  if (!place) co_return std::unexpected(place.error());
  const auto tasks = UpstreamSessionsOfClient::of(*call.session())->tasks();
  const auto after = number_in(call.request().param("cursor"));
  if (!after) co_return std::unexpected(mcp::errors::invalid_params("the cursor is none of this list"));
  const auto page = tasks->after(*after, kTasksOfPage);
  std::vector<std::string> found(page.ids.size());
  TaskGroup reading(co_await boost::asio::this_coro::executor);
  for (std::size_t i = 0; i < page.ids.size(); ++i)
    reading.spawn("a task of a list", read_task(call, page.ids[i], found[i]));
  co_await reading.join();
  std::string members = R"("tasks":[)";
  bool first = true;
  for (const std::string& task : found) {
    if (task.empty()) continue;
    if (!std::exchange(first, false)) members += ',';
    members += task;
  }
  members += ']';
  if (page.more) members += fmt::format(R"(,"nextCursor":"{}")", page.last);
  mcp::Reply reply;
  reply.members.add(std::move(members));
  co_return reply;
}

// Leaves `out` empty if the task cannot be read now.
Task<> GatewayService::read_task(server::Call& call, std::string id, std::string& out) {
  TaskRequest asking(call, id);
  const auto outcome = co_await handle(asking.call());
  if (outcome) {
    if (const auto* const reply = std::get_if<mcp::Reply>(&*outcome)) out = "{" + reply->members.str() + "}";
  } else if (mcp::rpc_code(outcome.error(), mcp::Era::legacy) == mcp::code::kInvalidParams) {
    UpstreamSessionsOfClient::of(*call.session())->tasks()->remove(id);
  }
}

Task<mcp::Outcome> GatewayService::ask_about_task(server::Call& call, Timing timing) {
  mcp::Outcome refused = std::unexpected(unknown_task());
  auto place = take_place(call, here());
  auto task = tasks_.open(call.request().name, call);
  if (!place) {
    refused = std::unexpected(std::move(place.error()));
  } else if (task) {
    auto route = co_await route_to_task(call, *task);
    if (route) {
      Errand errand{std::move(*place), std::move(*route), timing.now(), std::move(task->own)};
      co_return co_await send(call, timing, std::move(errand));
    }
    refused = std::unexpected(std::move(route.error()));
  }
  timing.end(refused);
  co_return refused;
}

Task<Result<Route>> GatewayService::route_to_task(server::Call& call, const TaskAtUpstream& task) {
  const Wanted wanted{catalog::Kind::tool, task.tool};
  CallerLists lists(remembered_, Asker::of(call));
  RouteFinder finder(lists, here());
  auto at_once = finder.at_once(wanted);
  auto route = at_once ? std::move(*at_once) : co_await finder.run(wanted, means(), call.cancellation());
  if (!route && route.error().kind() != ErrorKind::not_found) co_return route;
  if (!route || !route->upstream || route->upstream->settings().name != task.upstream)
    co_return std::unexpected(unknown_task());
  if (auto granted = check_scopes(*route, principal_of(call.caller()), refusals_); !granted)
    co_return std::unexpected(std::move(granted.error()));
  if (call.session() != nullptr)
    UpstreamSessionsOfClient::of(*call.session())->tasks()->add(call.request().name, task.upstream, task.own);
  co_return route;
}

mcp::Outcome GatewayService::task_outcome(server::Call& call, const ServedUpstream& upstream,
                                          const client::Answer& answer) const {
  const mcp::Request& request = call.request();
  if (mcp::is_about_tasks(request.method->method)) return task_reply(request, answer, request.name);
  TaskAtUpstream task{upstream->settings().name, std::string(request.name),
                      json::decode_string(begun_task(request, answer)).value_or("")};
  const auto shown = tasks_.show(task, call);
  if (!shown) return std::unexpected(shown.error());
  if (call.session() != nullptr)
    UpstreamSessionsOfClient::of(*call.session())->tasks()->add(*shown, task.upstream, task.own);
  return task_reply(request, answer, *shown);
}

}  // namespace proteus::gateway
