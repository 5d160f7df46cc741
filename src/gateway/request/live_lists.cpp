#include "gateway/request/live_lists.hpp"

#include <algorithm>

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "gateway/bridge/legacy_lists.hpp"
#include "gateway/upstreams/freshening.hpp"
#include "gateway/upstreams/upstream_errors.hpp"
#include "json/text.hpp"

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

// Returns the shortest time and the narrowest scope of all providers that the caller may use.
mcp::Caching caching_of(const catalog::View& view, mcp::CacheScope scope, Kind kind) {
  mcp::Caching caching{std::chrono::milliseconds::max(), scope};
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

// Whether another upstream may list an entry by the same name.
bool may_clash(const ServedUpstream& served, Kind kind, const UpstreamTable& upstreams) {
  const auto& prefix = served->rules().prefix;
  return std::ranges::any_of(upstreams.order, [&](const ServedUpstream& other) {
    return other.instance != served.instance && (catalog::may_show(kind, prefix, other->rules()) ||
                                                 catalog::may_show(kind, other->rules().prefix, served->rules()));
  });
}

std::string list_head(Kind kind) { return fmt::format(R"("{}":[)", catalog::info(kind).member); }

}  // namespace

mcp::Outcome cached_page(std::shared_ptr<const catalog::View> view, mcp::CacheScope scope, Kind kind,
                         const mcp::Request& request, const catalog::Cursors& cursors, std::size_t page_size) {
  const auto cursor = cursor_of(request, *view, kind, cursors);
  if (!cursor) return std::unexpected(cursor.error());
  const catalog::Page page = view->page(kind, *cursor ? (*cursor)->position : catalog::Position{}, page_size);
  mcp::Reply reply;
  reply.members.add(list_head(kind));
  if (needs_other_form(*view, kind, request)) {
    reply.members.add(form_for(request, page.str()));
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
  reply.caching = caching_of(*view, scope, kind);
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

LiveList::LiveList(server::Call& call, Worker& worker, UpstreamMeans means, Kind kind, const catalog::Cursors& cursors,
                   std::size_t page_size, RememberedLists& remembered)
    : call_(call),
      worker_(worker),
      pages_(call, worker, means),
      lists_(remembered, Asker::of(call)),
      kind_(kind),
      cursors_(cursors),
      page_size_(page_size) {}

Task<mcp::Outcome> LiveList::run() {
  co_await freshen(expired_for(principal_of(call_.caller()).access(), worker_.upstreams()));
  view_ = worker_.listed_view(call_);
  const auto cursor = cursor_of(call_.request(), *view_, kind_, cursors_);
  if (!cursor) co_return std::unexpected(cursor.error());
  const catalog::Cursor from = cursor->value_or(catalog::cursor_at(view_->state(), {}));

  TaskGroup asking(co_await boost::asio::this_coro::executor);
  const bool any =
      view_->access().may_have(kind_) && !(view_->lens() != nullptr && view_->lens()->leaves_nothing(kind_));
  for (const ServedUpstream& served : worker_.upstreams().order) {
    if (!any || !served->is_direct() || !view_->access().allows(served->name())) continue;
    const auto rank = view_->state().ranks().of(served->name());
    const auto facts = served->facts();
    if (!rank || (facts && !mcp::offers(facts->offers, catalog::info(kind_).list_method))) continue;
    any_live_ = true;
    auto part = std::make_shared<Part>();
    part->upstream = served;
    part->place = catalog::View::kMaxFront + *rank;
    const bool continued = part->place == from.position.place && from.live;
    if ((part->place < from.position.place || continued) && may_clash(served, kind_, worker_.upstreams())) {
      earlier_.push_back(std::make_shared<Earlier>(served, part->place));
      asking.spawn("live list of earlier pages", read_earlier(earlier_.back()));
    }
    if (part->place < from.position.place) continue;
    if (continued) part->cursor = from.provider_cursor;
    parts_.push_back(part);
    asking.spawn("live list", ask(part));
  }
  co_await asking.join();
  std::ranges::sort(parts_, {}, [](const auto& part) { return part->place; });
  co_return compose(from);
}

// Returns everything that the upstream's answer may depend on; nothing if the caller wants progress or log messages,
// too.
std::optional<std::string> LiveList::shared_by(const Part& part) const {
  const mcp::Request& request = call_.request();
  if (!request.progress_token.empty() || (request.log_level && call_.session() == nullptr)) return std::nullopt;
  const auto& settings = part.upstream->settings();
  const std::string meta =
      forwarded_meta(request, settings.propagates_meta() ? Propagate::all : Propagate::trace_context);
  return fmt::format("{}\n{}\n{}\n{}\n{}", part.upstream.instance, static_cast<int>(kind_), json::quote(part.cursor),
                     Asker::of(call_).key(), meta);
}

Task<> LiveList::ask(std::shared_ptr<Part> part) {
  const auto reading = lists_.memory().begin(part->upstream);
  const LivePagePointer page = co_await pages_.get(part->upstream, kind_, part->cursor, shared_by(*part));
  part->error = page->error;
  if (part->error) co_return;
  co_await remember(*part, page, reading);
  part->list = view_->lens() == nullptr ? page->list : co_await through_lens(*part, page->list);
  part->next = page->next;
}

Task<catalog::DefinitionList::Pointer> LiveList::through_lens(const Part& part,
                                                              catalog::DefinitionList::Pointer list) const {
  const std::size_t size = list->joined().size();
  return part.upstream->background().run(
      size, [view = view_, list = std::move(list)] { return view->lens()->through(list); });
}

Task<> LiveList::remember(const Part& part, LivePagePointer page, RememberedLists::Reading reading) {
  const bool routes = worker_.upstreams().routed_by_lists || view_->access().only_read_only(kind_);
  if (!part.cursor.empty() || !routes) co_return;
  // The names on further pages are not known, so what was remembered is forgotten.
  auto names = page->next ? nullptr : co_await names_of(part.upstream, {page->list});
  lists_.memory().put(lists_.key(), part.upstream, kind_, reading, std::move(names));
}

Task<> LiveList::read_earlier(std::shared_ptr<Earlier> earlier) {
  if (lists_.find(earlier->upstream, kind_).state == CallerLists::Known::State::unread) {
    (void)co_await pages_.read_all(earlier->upstream, kind_, lists_, earlier->upstream->settings().timeout);
  }
  earlier->names = lists_.find(earlier->upstream, kind_).names;
}

bool LiveList::is_taken(std::string_view name, std::uint32_t place) const {
  if (taken_.contains(name)) return true;
  return std::ranges::any_of(earlier_, [&](const auto& earlier) {
    if (earlier->names == nullptr || earlier->place >= place) return false;
    const auto entry = earlier->names->find(name);
    return entry && is_shown(*view_, kind_, *entry, earlier->upstream->rules());
  });
}

bool LiveList::clashes() const {
  const auto in_catalog = [this](std::string_view name) { return bool(view_->find(kind_, name)); };
  return std::ranges::any_of(taken_, in_catalog) || std::ranges::any_of(earlier_, [&](const auto& earlier) {
           return earlier->names != nullptr && earlier->names->any_shown(in_catalog);
         });
}

bool LiveList::add_cached(catalog::Position& position, std::uint32_t until) {
  const bool one_by_one = clashes();
  while (position.place < until) {
    if (count_ >= page_size_) return false;
    const catalog::Page page = view_->page(kind_, position, one_by_one ? 1 : page_size_ - count_, until);
    const bool lost =
        one_by_one && page.definitions == 1 &&
        is_taken(json::decode_string(json::find_member(page.str(), catalog::info(kind_).key)).value_or(""), until);
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
    const bool in_front =
        holder && holder.definition->shown == definition.shown && view_->place_of(holder) < part.place;
    const bool lost = in_front || is_taken(definition.shown, part.place);
    if (lost) continue;
    taken_.emplace(definition.shown);
    if (count_ > 0) payload_.add(",");
    payload_.add(definition.text, part.list);
    ++count_;
  }
  return !part.next;
}

bool LiveList::has_other_sources() const {
  if (view_->count(kind_) > 0) return true;
  return std::ranges::any_of(worker_.upstreams().order, [this](const ServedUpstream& served) {
    return !served->is_direct() && view_->access().allows(served->name());
  });
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
  const bool none_answered = !missing_.empty() && missing_.size() == parts_.size();
  if (none_answered && !has_other_sources()) return std::unexpected(*std::move(last_error_));

  mcp::Reply reply;
  reply.members.add(list_head(kind_));
  const bool other =
      needs_other_form(*view_, kind_, call_.request()) || std::ranges::any_of(parts_, [this](const auto& part) {
        return part->list && needs_other_form(*part->list, call_.request());
      });
  if (other) {
    reply.members.add(form_for(call_.request(), payload_.str()));
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
  if (!any_live_) reply.caching = caching_of(*view_, worker_.cache_scope(*view_), kind_);
  return reply;
}

}  // namespace proteus::gateway
