#include "gateway/live_lists.hpp"

#include <algorithm>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/task_group.hpp"
#include "client/attempt.hpp"
#include "gateway/bridge/legacy_lists.hpp"
#include "gateway/forwarding.hpp"
#include "gateway/retries.hpp"
#include "gateway/turnstile.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

Result<std::optional<catalog::Cursor>> cursor_of(const mcp::Request& request, const catalog::View& view, Kind kind,
                                                 const catalog::Cursors& cursors) {
  const std::string_view raw = request.param("cursor");
  if (raw.empty()) return std::nullopt;
  auto opened = cursors.open(json::decode_string(raw).value_or(""), kind, view.scope());
  if (!opened) return std::unexpected(opened.error());
  const auto position = catalog::resume(view.state(), *opened);
  if (!position) return std::unexpected(position.error());
  return std::move(*opened);
}

Result<std::string> next_member(const catalog::Cursor& next, const catalog::View& view, Kind kind,
                                const catalog::Cursors& cursors) {
  const auto sealed = cursors.seal(next, kind, view.scope());
  if (!sealed) return std::unexpected(sealed.error());
  return fmt::format(R"(],"nextCursor":{})", json::quote(*sealed));
}

// The shortest time and the narrowest scope of all that have something in the list.
mcp::Caching caching_of(const catalog::View& view, Kind kind) {
  mcp::Caching caching{std::chrono::milliseconds::max(),
                       view.is_shared() ? mcp::CacheScope::shared : mcp::CacheScope::per_caller};
  const auto& state = view.state();
  for (std::uint32_t rank = 0; rank < state.places(); ++rank) {
    const auto* snapshot = state.at(rank);
    if (snapshot == nullptr || !view.access().allows(snapshot->upstream())) continue;
    const auto& said = snapshot->facts().caching[kind];
    if (!said) {
      caching.ttl = std::chrono::milliseconds(0);
      continue;
    }
    caching.ttl = std::min(caching.ttl, said->ttl);
    if (said->scope == mcp::CacheScope::per_caller) caching.scope = mcp::CacheScope::per_caller;
  }
  if (caching.ttl == std::chrono::milliseconds::max()) caching.ttl = std::chrono::milliseconds(0);
  return caching;
}

std::string list_head(Kind kind) { return fmt::format(R"("{}":[)", catalog::info(kind).member); }

}  // namespace

mcp::Outcome cached_page(std::shared_ptr<const catalog::View> view, Kind kind, const mcp::Request& request,
                         const catalog::Cursors& cursors, std::size_t page_size) {
  const auto cursor = cursor_of(request, *view, kind, cursors);
  if (!cursor) return std::unexpected(cursor.error());
  const catalog::Page page = view->page(kind, *cursor ? (*cursor)->position : catalog::Position{}, page_size);
  mcp::Reply reply;
  reply.members.add(list_head(kind));
  if (needs_legacy_form(*view, kind, request)) {
    reply.members.add(legacy_form(page.str()));
  } else {
    page.append_to(reply.members, view);
  }
  if (page.next) {
    auto next = next_member(catalog::cursor_at(view->state(), *page.next), *view, kind, cursors);
    if (!next) return std::unexpected(next.error());
    reply.members.add(std::move(*next));
  } else {
    reply.members.add("]");
  }
  reply.caching = caching_of(*view, kind);
  return reply;
}

struct LiveList::Part {
  ServedUpstream upstream;
  std::uint32_t place = 0;
  std::string cursor;  // the upstream's own; empty for its first page
  std::optional<Error> error;
  catalog::DefinitionList::Pointer list;
  std::optional<std::string> next;
};

LiveList::LiveList(server::Call& call, Worker& worker, Reach reach, Kind kind, const catalog::Cursors& cursors,
                   std::size_t page_size, const std::function<void(const UpstreamRequest&)>& observer,
                   const Clock& clock, const client::Chance& chance)
    : call_(call),
      worker_(worker),
      reach_(reach),
      kind_(kind),
      cursors_(cursors),
      page_size_(page_size),
      observer_(observer),
      clock_(clock),
      chance_(chance) {}

Task<mcp::Outcome> LiveList::run() {
  co_await freshen();
  view_ = worker_.view(call_);
  const auto cursor = cursor_of(call_.request(), *view_, kind_, cursors_);
  if (!cursor) co_return std::unexpected(cursor.error());
  const catalog::Cursor from = cursor->value_or(catalog::cursor_at(view_->state(), {}));

  TaskGroup asking(co_await boost::asio::this_coro::executor);
  for (const ServedUpstream& served : worker_.upstreams().order) {
    if (!served->is_direct() || !view_->access().allows(served->name())) continue;
    const auto rank = view_->state().ranks().of(served->name());
    const auto facts = served->facts();
    if (!rank || (facts && !mcp::offers(facts->offers, catalog::info(kind_).list_method))) continue;
    auto part = std::make_shared<Part>();
    part->upstream = served;
    part->place = catalog::View::kMaxFront + *rank;
    if (part->place < from.position.place) continue;
    if (part->place == from.position.place && from.live) part->cursor = from.provider_cursor;
    parts_.push_back(part);
    asking.spawn("live list", ask(part));
  }
  co_await asking.join();
  std::ranges::sort(parts_, {}, [](const auto& part) { return part->place; });
  co_return compose(from);
}

Task<> LiveList::freshen() {
  TaskGroup refreshing(co_await boost::asio::this_coro::executor);
  const auto& access = principal_of(call_.caller()).access();
  for (const ServedUpstream& served : worker_.upstreams().order) {
    if (served->settings().ttl.count() > 0 && access.allows(served->name())) {
      refreshing.spawn("refresh on use", served->freshen());
    }
  }
  co_await refreshing.join();
}

// All that an upstream's answer may depend on; nothing where the caller wants more than the answer.
std::optional<std::string> LiveList::shared_by(const Part& part) const {
  const mcp::Request& request = call_.request();
  if (!request.progress_token.empty() || (request.log_level && call_.session() == nullptr)) return std::nullopt;
  const auto& settings = part.upstream->settings();
  const std::string meta =
      forwarded_meta(request, settings.propagates_meta() ? Propagate::all : Propagate::trace_context);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", part.upstream.instance, static_cast<int>(kind_),
                     json::quote(call_.caller().principal), static_cast<const void*>(call_.session()),
                     json::quote(part.cursor), request.client_capabilities, meta);
}

Task<> LiveList::ask(std::shared_ptr<Part> part) {
  auto key = shared_by(*part);
  LivePagePointer page;
  if (key) {
    page = co_await worker_.flights().get(std::move(*key), [this, part] { return fetch(part); });
  } else {
    page = co_await fetch(part);
  }
  part->error = page->error;
  if (part->error) co_return;
  part->list = view_->lens() != nullptr ? view_->lens()->through(page->list) : page->list;
  part->next = page->next;
}

Task<LivePagePointer> LiveList::fetch(std::shared_ptr<Part> part) {
  const auto began = clock_.now();
  auto page = std::make_shared<LivePage>();
  auto answer = co_await request(*part, *page);
  if (observer_) {
    observer_({part->upstream, catalog::info(kind_).list_method, clock_.now() - began,
               answer ? nullptr : &answer.error(), page->cut_off});
  }
  if (!answer) {
    page->error = std::move(answer.error());
    co_return page;
  }
  const std::string_view array = answer->member(catalog::info(kind_).member);
  auto elements = json::elements_of(array.empty() ? "[]" : array, catalog::ListLimits{}.definitions);
  if (!elements) {
    page->error = errors::protocol("the list is none");
    co_return page;
  }
  auto list = co_await part->upstream->read_list(kind_, answer->bytes(), std::move(*elements));
  if (!list) {
    page->error = std::move(list.error());
    co_return page;
  }
  page->list = std::move(*list);
  if (const std::string_view next = answer->member("nextCursor"); !next.empty() && next != "null") {
    auto decoded = json::decode_string(next);
    if (decoded) page->next = std::move(*decoded);
  }
  co_return page;
}

Task<Result<client::Answer>> LiveList::request(const Part& part, LivePage& page) {
  const Turnstile::Pass pass = part.upstream.calls->enter();
  if (!pass) co_return std::unexpected(errors::exhausted("it has as many requests under way as it may"));
  auto& breaker = part.upstream->breaker();
  Retries retries(catalog::info(kind_).list_method, clock_, chance_);
  for (bool first = true;; first = false) {
    if (!breaker.allows()) {
      page.cut_off = first;
      co_return std::unexpected(errors::unreachable("it has failed repeatedly and is not asked for now"));
    }
    client::Params params;
    if (!part.cursor.empty()) params.members.add(fmt::format(R"("cursor":{})", json::quote(part.cursor)));
    const Route route{part.upstream, {}, {}, view_, {}};
    Forwarding forwarding(call_, worker_, reach_, route);
    client::Attempt attempt(breaker);
    auto answer = co_await forwarding.run(std::move(params));
    attempt.report(answer);
    if (answer) co_return std::get<client::Answer>(std::move(*answer));
    const auto wait = retries.next(answer.error());
    if (!wait) co_return std::unexpected(std::move(answer.error()));
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, *wait);
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
}

bool LiveList::add_cached(catalog::Position& position, std::uint32_t until) {
  const bool clashes = std::ranges::any_of(taken_, [this](const auto& name) { return bool(view_->find(kind_, name)); });
  while (position.place < until) {
    if (count_ >= page_size_) return false;
    const catalog::Page page = view_->page(kind_, position, clashes ? 1 : page_size_ - count_, until);
    const bool lost =
        clashes && page.definitions == 1 &&
        taken_.contains(json::decode_string(json::find_member(page.str(), catalog::info(kind_).key)).value_or(""));
    if (page.definitions > 0 && !lost) {
      if (count_ > 0) payload_.add(",");
      page.append_to(payload_, view_);
      count_ += page.definitions;
    }
    position = page.next.value_or(catalog::Position{until, {}});
  }
  return true;
}

bool LiveList::add_live(Part& part) {
  if (part.error) {
    missing_.push_back(part.upstream->settings().name);
    last_error_ = std::move(part.error);
    return true;
  }
  for (const auto& definition : part.list->definitions()) {
    const auto holder = view_->find(kind_, definition.shown);
    const auto rank = holder ? view_->state().ranks().of(holder.snapshot->upstream()) : std::nullopt;
    const bool in_front = holder && (!rank || catalog::View::kMaxFront + *rank < part.place);
    const bool lost = in_front || taken_.contains(definition.shown);
    if (lost) continue;
    taken_.emplace(definition.shown);
    if (count_ > 0) payload_.add(",");
    payload_.add(definition.text, part.list);
    ++count_;
  }
  return !part.next;
}

mcp::Outcome LiveList::compose(const catalog::Cursor& from) {
  catalog::Position position = from.position;
  bool whole = true;
  for (const auto& part : parts_) {
    whole = add_cached(position, part->place);
    if (!whole) {
      next_ = catalog::cursor_at(view_->state(), position);
      break;
    }
    whole = add_live(*part);
    if (!whole) {
      next_ = catalog::cursor_at(view_->state(), {part->place, {}});
      next_->provider_cursor = *part->next;
      next_->live = true;
      break;
    }
    position = {part->place + 1, {}};
  }
  if (whole && !add_cached(position, catalog::View::kMaxFront + view_->state().places())) {
    next_ = catalog::cursor_at(view_->state(), position);
  }
  const bool anyone = std::ranges::any_of(worker_.upstreams().order, [this](const ServedUpstream& served) {
    return !served->is_direct() && view_->access().allows(served->name());
  });
  if (!missing_.empty() && missing_.size() == parts_.size() && !anyone) {
    if (last_error_->kind() == ErrorKind::remote) return std::unexpected(*last_error_);
    return std::unexpected(std::move(*last_error_).within(fmt::format("upstream {}", missing_.back())));
  }

  mcp::Reply reply;
  reply.members.add(list_head(kind_));
  const bool modern =
      needs_legacy_form(*view_, kind_, call_.request()) ||
      std::ranges::any_of(parts_, [](const auto& part) { return part->list && part->list->has_modern_output(); });
  if (modern && kind_ == Kind::tool && call_.request().era() == mcp::Era::legacy) {
    reply.members.add(legacy_form(payload_.str()));
  } else {
    reply.members.add(std::move(payload_));
  }
  if (next_) {
    auto member = next_member(*next_, *view_, kind_, cursors_);
    if (!member) return std::unexpected(member.error());
    reply.members.add(std::move(*member));
  } else {
    reply.members.add("]");
  }
  if (!missing_.empty()) {
    std::string names;
    for (const auto& name : missing_)
      names += fmt::format("{}{}", names.empty() ? "" : ",", json::quote(name));
    reply.meta = fmt::format(R"("proteus/missing":[{}])", names);
  }
  if (parts_.empty()) reply.caching = caching_of(*view_, kind_);
  return reply;
}

}  // namespace proteus::gateway
