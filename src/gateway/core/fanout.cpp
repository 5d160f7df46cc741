#include "gateway/core/fanout.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "catalog/view/view.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/callers/view_spec.hpp"

namespace proteus::gateway {

Fanout::Fanout(boost::asio::io_context& io, server::Listeners& listeners, BackgroundThreads& background,
               std::chrono::milliseconds debounce)
    : io_(io),
      listeners_(listeners),
      background_(background),
      tasks_(io.get_executor()),
      telling_(debounce),
      timer_(io) {}

void Fanout::publish(const catalog::Publication& publication) {
  if (publication.changes.empty()) return;
  const Time now = std::chrono::steady_clock::now();
  // Initialized, because a captured reference becomes a constant, which each move of the function would copy.
  boost::asio::post(io_, [this, publication = publication, now] { collect(publication, now); });
}

Task<> Fanout::stop() {
  stopped_ = true;
  timer_.cancel();
  co_await tasks_.join();
}

void Fanout::set_contexts(catalog::Contexts::Pointer contexts, catalog::CatalogState::Pointer state) {
  const Time now = std::chrono::steady_clock::now();
  boost::asio::post(io_, [this, contexts = std::move(contexts), state = std::move(state), now]() mutable {
    if (stopped_) return;
    auto before = std::exchange(contexts_, std::move(contexts));
    const auto has_any = [](const catalog::Contexts::Pointer& some) { return some && !some->empty(); };
    if (!has_any(before) && !has_any(contexts_)) return;
    if (!after_ || state->version() > after_->version()) after_ = state;
    changes_.push_back({now, std::move(state), std::move(before), {}});
    tell_soon();
  });
}

void Fanout::lists_changed(catalog::UpstreamName upstream, catalog::KindSet kinds) {
  boost::asio::post(io_, [this, upstream = std::move(upstream), kinds, now = std::chrono::steady_clock::now()] {
    if (stopped_) return;
    Live& live = live_[upstream];
    live.at = now;
    live.kinds.add(kinds);
    tell_soon();
  });
}

void Fanout::lists_changed_for(std::string principal, catalog::KindSet kinds) {
  boost::asio::post(io_, [this, principal = std::move(principal), kinds] {
    if (stopped_) return;
    own_[principal].add(kinds);
    tell_soon();
  });
}

void Fanout::collect(const catalog::Publication& publication, Time at) {
  if (stopped_) return;
  if (!after_ || publication.after->version() > after_->version()) after_ = publication.after;
  for (const auto& change : publication.changes)
    changes_.push_back({at, publication.before, contexts_, change});
  tell_soon();
}

void Fanout::tell_soon() {
  if (!std::exchange(telling_soon_, true)) tasks_.spawn("list changes", tell_in_turn());
}

// The changes of one round of notifications, and whom they concern.
class Fanout::News {
 public:
  News(std::vector<Entry> changes, catalog::CatalogState::Pointer after, catalog::Contexts::Pointer contexts,
       LiveByUpstream live, KindsByPrincipal own)
      : changes_(std::move(changes)),
        after_(std::move(after)),
        contexts_(std::move(contexts)),
        live_(std::move(live)),
        own_(std::move(own)) {
    std::ranges::sort(changes_, {}, [](const Entry& entry) { return std::pair(entry.before->version(), entry.at); });
  }

  // Whether there are only changes for single principals.
  bool is_only_own() const { return changes_.empty() && live_.empty(); }
  const KindsByPrincipal& own() const { return own_; }

  catalog::KindSet kinds_for(const server::Caller& caller, Time since) {
    catalog::KindSet kinds = published_for(caller, since);
    for (const auto& [upstream, live] : live_) {
      if (live.at >= since && principal_of(caller).access().allows(upstream)) kinds.add(listed(live.kinds, caller));
    }
    if (const auto own = own_.find(caller.principal); own != own_.end()) kinds.add(own->second);
    return kinds;
  }

  // Returns the kinds that have changed for a caller who may see everything, outside of contexts.
  catalog::KindSet kinds_for_all() const {
    catalog::KindSet kinds;
    if (!changes_.empty())
      kinds = concerned(catalog::View(changes_.front().before), catalog::View(after_), changes_.begin());
    for (const auto& [upstream, live] : live_)
      kinds.add(live.kinds);
    for (const auto& [principal, own] : own_)
      kinds.add(own);
    return kinds;
  }

 private:
  using At = std::vector<Entry>::const_iterator;

  // Returns those of the kinds that are ever listed to the caller: nobody knows what changed in the lists of an
  // upstream that is listed live. Most callers who search are listed no tools of upstreams.
  catalog::KindSet listed(catalog::KindSet kinds, const server::Caller& caller) {
    const Principal& principal = principal_of(caller);
    const auto context = context_view(contexts_, caller);
    const bool in_context = context && context->lens;
    const bool lists_tools = !is_to_search(principal, context.get()) ||
                             (in_context && !context->lens->listed().leaves_nothing(catalog::Kind::tool));
    catalog::KindSet left;
    for (const catalog::Kind kind : catalog::kKinds) {
      const bool may_be = kind != catalog::Kind::tool || lists_tools;
      if (may_be && kinds.has(kind) && principal.access().may_have(kind)) left.add(kind);
    }
    return left;
  }

  catalog::KindSet published_for(const server::Caller& caller, Time since) {
    const auto first = std::ranges::find_if(changes_, [&](const Entry& entry) { return entry.at >= since; });
    if (first == changes_.end()) return {};
    const ViewSpec was(caller, context_view(first->contexts, caller), nullptr, ViewFor::list);
    const ViewSpec is(caller, context_view(contexts_, caller), nullptr, ViewFor::list);
    // By what a caller may see, and by the first change since the caller began to listen.
    std::pair key(fmt::format("{}\n\n{}", was.fingerprint(), is.fingerprint()),
                  static_cast<std::size_t>(first - changes_.begin()));
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const catalog::View old_view(first->before, was.layers());
    const catalog::View new_view(after_, is.layers());
    const auto kinds = was.fingerprint() == is.fingerprint() ? concerned(old_view, new_view, first)
                                                             : catalog::differing(old_view, new_view);
    return known_.emplace(std::move(key), kinds).first->second;
  }

  catalog::KindSet concerned(const catalog::View& before, const catalog::View& after, At first) const {
    catalog::KindSet kinds;
    for (auto entry = first; entry != changes_.end(); ++entry)
      kinds.add(catalog::concerned(before, after, entry->change));
    return kinds;
  }
  std::shared_ptr<const ContextView> context_view(const catalog::Contexts::Pointer& contexts,
                                                  const server::Caller& caller) {
    return context_views_[contexts.get()].of(contexts, caller);
  }

  std::vector<Entry> changes_;
  catalog::CatalogState::Pointer after_;
  catalog::Contexts::Pointer contexts_;
  const LiveByUpstream live_;
  const KindsByPrincipal own_;
  std::map<const catalog::Contexts*, ContextViews> context_views_;
  std::map<std::pair<std::string, std::size_t>, catalog::KindSet> known_;
};

// Notifies of the first change at once, and of those that follow it closely together.
Task<> Fanout::tell_in_turn() {
  const std::shared_ptr<void> end(nullptr, [this](void*) { telling_soon_ = false; });
  while (!stopped_ && !(changes_.empty() && live_.empty() && own_.empty())) {
    timer_.expires_at(telling_.due(std::chrono::steady_clock::now()));
    boost::system::error_code woken;
    co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, woken));
    if (stopped_) co_return;
    telling_.act(std::chrono::steady_clock::now());
    const auto news = std::make_shared<News>(std::exchange(changes_, {}), std::exchange(after_, nullptr), contexts_,
                                             std::exchange(live_, {}), std::exchange(own_, {}));
    if (news->is_only_own()) {
      tell(*news);
    } else {
      co_await background_.run([this, news] {
        tell(*news);
        return true;
      });
    }
  }
}

void Fanout::tell(News& news) const {
  const catalog::KindSet for_all = news.kinds_for_all();
  // Resource templates have no notification of their own.
  const auto has = [](catalog::KindSet kinds, catalog::Kind kind) {
    return kinds.has(kind) || (kind == catalog::Kind::resource && kinds.has(catalog::Kind::resource_template));
  };
  for (const catalog::Kind kind : {catalog::Kind::tool, catalog::Kind::prompt, catalog::Kind::resource}) {
    const mcp::Method changed = info(kind).changed_method;
    if (news.is_only_own()) {
      for (const auto& [principal, kinds] : news.own()) {
        if (has(kinds, kind)) listeners_.list_changed_for(principal, changed);
      }
    } else {
      const server::Listeners::ConcernsSince concerns = [&](const server::Caller& caller, Time since) {
        return has(news.kinds_for(caller, since), kind);
      };
      listeners_.list_changed(changed, concerns);
    }
    if (observer_ && has(for_all, kind)) observer_(kind);
  }
}

}  // namespace proteus::gateway
