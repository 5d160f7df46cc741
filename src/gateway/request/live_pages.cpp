// Reads pages of lists from upstreams, as the caller.
#include <set>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/tasks/waiting.hpp"
#include "gateway/grants/sign_ins.hpp"
#include "gateway/request/connect_tool.hpp"
#include "gateway/request/forwarding.hpp"
#include "gateway/request/live_lists.hpp"
#include "gateway/upstreams/upstream_attempts.hpp"
#include "gateway/upstreams/upstream_errors.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

constexpr std::size_t kMostPages = 1000;

}  // namespace

Task<ListedNames::Pointer> names_of(ServedUpstream upstream, std::vector<catalog::DefinitionList::Pointer> pages) {
  std::size_t size = 0;
  for (const auto& page : pages)
    size += page->joined().size();
  co_return co_await upstream->background().run(
      size, [pages = std::move(pages)] { return std::make_shared<const ListedNames>(pages); });
}

Task<LivePagePointer> LivePages::get(ServedUpstream upstream, Kind kind, std::string cursor,
                                     std::optional<std::string> key) {
  Wanted wanted{std::move(upstream), kind, std::move(cursor)};
  if (!key) co_return co_await fetch(std::move(wanted));
  co_return co_await worker_.shared_requests().get(std::move(*key), [this, &wanted] { return fetch(wanted); });
}

Task<LivePagePointer> LivePages::fetch(Wanted wanted) {
  auto page = std::make_shared<LivePage>();
  SignIns* const sign_ins = means_.reach.sign_ins;
  if (sign_ins != nullptr && sign_ins->must_connect(call_.caller(), *wanted.upstream.upstream)) {
    page->list = unconnected_list(wanted.kind, *wanted.upstream.upstream);
    co_return page;
  }
  auto answer = co_await request(wanted);
  const bool implemented = answer || !wanted.cursor.empty() || !client::is_unimplemented(answer.error());
  if (answer || !implemented) wanted.upstream->answered_live(wanted.kind, implemented);
  if (!implemented) {
    page->list = catalog::DefinitionList::empty(wanted.kind);
    co_return page;
  }
  if (!answer) {
    page->error = std::move(answer.error());
    co_return page;
  }
  const std::string_view array = answer->member(catalog::info(wanted.kind).member);
  auto list = co_await wanted.upstream->read_list(wanted.kind, answer->bytes(), array);
  if (!list) {
    page->error = log_failure(call_, *wanted.upstream.upstream, std::move(list.error()));
    co_return page;
  }
  page->list = std::move(*list);
  if (const std::string_view next = answer->member("nextCursor"); !next.empty() && next != "null") {
    auto decoded = json::decode_string(next);
    if (decoded) page->next = std::move(*decoded);
  }
  co_return page;
}

client::Params LivePages::params_of(const Wanted& wanted) {
  client::Params params;
  if (!wanted.cursor.empty()) params.members.add(fmt::format(R"("cursor":{})", json::quote(wanted.cursor)));
  return params;
}

Task<Result<client::Answer>> LivePages::request(const Wanted& wanted) {
  const mcp::Method method = catalog::info(wanted.kind).list_method;
  const auto& [reach, observer, refusals, clock, chance] = means_;
  const auto began = clock.now();
  UpstreamAttempts attempts(wanted.upstream, method, began, clock, chance);
  if (auto admitted = attempts.begin(); !admitted) {
    means_.tell_refused(attempts, {wanted.upstream, method, {}, &admitted.error()}, call_.caller());
    co_return std::unexpected(std::move(admitted.error()));
  }
  const Route route{wanted.upstream, {}, {}, {}, {}};
  Forwarding forwarding(call_, worker_, reach, route);
  auto answer = co_await forwarding.list(params_of(wanted));
  while (!answer && co_await attempts.again(answer.error()))
    answer = co_await forwarding.list(params_of(wanted));
  attempts.report(answer);
  if (observer) observer({wanted.upstream, method, clock.now() - began, answer ? nullptr : &answer.error()});
  if (answer) co_return std::get<client::Answer>(std::move(*answer));
  co_return std::unexpected(log_failure(call_, *wanted.upstream.upstream, std::move(answer.error())));
}

Task<Result<LivePages::Pages>> LivePages::read_all(ServedUpstream upstream, Kind kind, CallerLists& into,
                                                   std::chrono::milliseconds most) {
  const auto reading = into.memory().begin(upstream);
  Result<Pages> pages = std::unexpected(errors::internal("the list was not read"));
  try {
    Deadline deadline(co_await boost::asio::this_coro::executor, most, {});
    pages = co_await before(deadline, read_pages(upstream, kind, into.key()), "the list");
  } catch (const std::exception& fault) {
    pages = std::unexpected(errors::internal(fault.what()));
  }
  if (pages) {
    into.add(upstream, kind, reading, co_await names_of(upstream, *pages));
  } else {
    into.add(upstream, kind, reading, std::unexpected(pages.error()));
  }
  co_return pages;
}

Task<Result<LivePages::Pages>> LivePages::read_pages(ServedUpstream upstream, Kind kind, const std::string& caller) {
  Pages pages;
  std::size_t definitions = 0;
  std::set<std::string> cursors{""};
  std::string cursor;
  for (;;) {
    std::string key =
        fmt::format("names\n{}\n{}\n{}\n{}", upstream.instance, static_cast<int>(kind), json::quote(cursor), caller);
    const auto page = co_await get(upstream, kind, cursor, std::move(key));
    if (page->error) co_return std::unexpected(*page->error);
    pages.push_back(page->list);
    if (!page->next) break;
    definitions += page->list->size();
    const bool too_long = pages.size() == kMostPages || definitions > catalog::ListLimits{}.definitions;
    if (too_long) co_return std::unexpected(errors::too_large("the list", catalog::ListLimits{}.definitions));
    cursor = *page->next;
    if (!cursors.insert(cursor).second) co_return std::unexpected(errors::protocol("a cursor of the list returns"));
  }
  co_return pages;
}

}  // namespace proteus::gateway
