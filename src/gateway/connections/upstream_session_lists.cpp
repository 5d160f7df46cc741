// Lists that an upstream shows one caller alone.
#include <algorithm>
#include <atomic>

#include "base/log/log.hpp"
#include "gateway/connections/upstream_session.hpp"
#include "gateway/connections/worker.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

bool same(const catalog::DefinitionList::Pointer& a, const catalog::DefinitionList::Pointer& b) {
  const std::size_t size = a ? a->size() : 0;
  if (size != (b ? b->size() : 0)) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if ((*a)[i].shown != (*b)[i].shown || (*a)[i].hash != (*b)[i].hash) return false;
  }
  return true;
}

std::size_t bytes_of(const catalog::DefinitionList::Pointer& list) { return list ? list->joined().size() : 0; }

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// Whether two lists, which may be null, differ in what this access allows.
bool are_others(const catalog::Access& access, Kind kind, const catalog::DefinitionList::Pointer& before,
                const catalog::DefinitionList::Pointer& after) {
  if (!access.entries()) return true;
  const auto left = [&](const catalog::DefinitionList::Pointer& list) {
    return access.entries()->through(list ? list : catalog::DefinitionList::empty(kind));
  };
  return left(before)->joined() != left(after)->joined();
}

}  // namespace

// Entries that only this caller sees may have changed; the gateway's own connection covers the rest.
void UpstreamSession::missed() {
  const auto upstream = upstream_.lock();
  if (!upstream) return;
  for (const Kind kind : catalog::kKinds) {
    if (upstream->is_direct() || own_[kind]) changed({kind});
  }
}

void UpstreamSession::changed(catalog::KindSet kinds) {
  const auto upstream = upstream_.lock();
  if (!upstream) return;
  upstream->lists_changed();
  // Settings that ignore announcements apply to the lists of a single caller, too.
  const auto& settings = upstream->settings();
  if (!upstream->is_direct() && (!settings.event_driven_refresh || settings.ttl.count() > 0)) return;
  changed_.add(kinds);
  // The caller's next list waits for this, so that it contains what a call has added.
  if (!upstream->is_direct() && !behind_) behind_ = OwnLists::fall_behind(observer_.lists);
  if (!std::exchange(reviewing_, true)) worker_.run("looking at a caller's own lists", review());
}

// Acts on the first announcement at once, and then at most once per debounce window.
Task<> UpstreamSession::review() {
  const auto self = shared_from_this();
  const std::shared_ptr<void> end(nullptr, [this](void*) {
    reviewing_ = false;
    behind_ = nullptr;
  });
  while (!changed_.empty()) {
    if (const auto wait = telling_.wait(worker_.now()); wait.count() > 0) co_await sleep_for(wait);
    catalog::KindSet kinds = std::exchange(changed_, {});
    // Requests wait until this reading has ended, but not for what is announced meanwhile.
    const auto until_read = std::exchange(behind_, nullptr);
    telling_.act(worker_.now());
    const auto upstream = upstream_.lock();
    if (!upstream) co_return;
    const catalog::Snapshot::Lists before = own_;
    if (!upstream->is_direct()) {
      co_await upstream->announced();
      kinds = co_await read_own_lists(upstream, kinds);
    }
    std::size_t bytes = 0;
    for (const Kind kind : catalog::kKinds) {
      if (kinds.has(kind)) bytes += bytes_of(before[kind]) + bytes_of(own_[kind]);
    }
    co_await upstream->background().run(bytes, [self, kinds, before, after = own_, direct = upstream->is_direct()] {
      self->tell_of_change(kinds, before, after, direct);
      return true;
    });
  }
}

// Called on any thread, because comparing long lists takes long.
void UpstreamSession::tell_of_change(catalog::KindSet kinds, const catalog::Snapshot::Lists& before,
                                     const catalog::Snapshot::Lists& after, bool direct) const {
  // Lists that are read live may have changed in any way.
  const auto concerns = [&](Kind kind, const catalog::Access& access) {
    if (!kinds.has(kind) || !access.may_have(kind)) return false;
    return direct || are_others(access, kind, before[kind], after[kind]);
  };
  for (const Kind kind : {Kind::tool, Kind::prompt, Kind::resource}) {
    const bool has_templates = kind == Kind::resource && kinds.has(Kind::resource_template);
    if (!kinds.has(kind) && !has_templates) continue;
    observer_.list_changed(info(kind).changed_method, [&](const catalog::Access& access) {
      return concerns(kind, access) || (has_templates && concerns(Kind::resource_template, access));
    });
  }
}

// Reads the caller's lists of these kinds, and returns those whose entries for this caller alone have changed.
Task<catalog::KindSet> UpstreamSession::read_own_lists(std::shared_ptr<providers::Upstream> upstream,
                                                       catalog::KindSet kinds) {
  catalog::KindSet others;
  for (const Kind kind : catalog::kKinds) {
    if (!kinds.has(kind)) continue;
    auto own = co_await read_own_list(upstream, kind);
    if (!own) {
      log::debug("upstream {}: a caller's own list is not read: {}", upstream->settings().name, own.error().message());
      continue;
    }
    if (*own == own_[kind]) continue;
    own_[kind] = std::move(*own);
    others.add(kind);
  }
  if (others.empty() || retired_) co_return catalog::KindSet{};
  const bool any = std::ranges::any_of(catalog::kKinds, [this](Kind kind) { return own_[kind] != nullptr; });
  catalog::SnapshotPointer shown;
  if (any) shown = std::make_shared<const catalog::Snapshot>(upstream->name(), next_version(), own_);
  if (observer_.lists->replace(instance_, shown_, shown)) shown_ = std::move(shown);
  co_return others;
}

// Returns the entries that the shared list lacks, or has in another form; null for none. If they are the same as
// before, returns the list that is known.
Task<Result<catalog::DefinitionList::Pointer>> UpstreamSession::read_own_list(
    std::shared_ptr<providers::Upstream> upstream, Kind kind) {
  auto read = co_await connection_->list(catalog::info(kind).list_method);
  if (!read) co_return std::unexpected(read.error());
  const auto listing = std::make_shared<const client::Listing>(std::move(*read));
  std::vector<std::string_view> texts;
  texts.reserve(listing->entries.size());
  for (const auto& entry : listing->entries)
    texts.push_back(entry.definition);
  const auto list = co_await upstream->read_list(kind, listing, std::move(texts));
  if (!list) co_return std::unexpected(list.error());
  co_return co_await upstream->background().run(
      (*list)->joined().size(),
      [all = *list, before = own_[kind], shared = worker_.snapshot_of(upstream->name()), kind] {
        auto own = catalog::DefinitionList::derive(all, [&](const catalog::Definition& definition) {
          const auto* const known = shared ? shared->list(kind).find(definition.shown) : nullptr;
          return catalog::DefinitionList::Face{.kept = known == nullptr || known->hash != definition.hash};
        });
        if (same(before, own)) return before;
        return own->size() > 0 ? own : nullptr;
      });
}

}  // namespace proteus::gateway
