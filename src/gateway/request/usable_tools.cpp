#include "gateway/request/usable_tools.hpp"

#include <algorithm>
#include <unordered_map>

#include <boost/asio/this_coro.hpp>

#include "base/tasks/task_group.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "gateway/request/list_call.hpp"
#include "gateway/upstreams/freshening.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

std::uint32_t index_in(const catalog::DefinitionList& list, const catalog::Definition& definition) {
  return static_cast<std::uint32_t>(&definition - list.definitions().data());
}

}  // namespace

UsableTools::UsableTools(std::shared_ptr<const catalog::View> view) : view_(std::move(view)) {
  for (const auto& part : view_->parts(Kind::tool)) {
    if (part.snapshot == search_definitions().get()) continue;
    parts_.push_back(part);
    live_.push_back(false);
  }
}

void UsableTools::add_live(const ServedUpstream& upstream, catalog::DefinitionList::Pointer page) {
  const auto rank = view_->state().ranks().of(upstream->name());
  if (!rank || page->size() == 0) return;
  catalog::Snapshot::Lists lists;
  lists[Kind::tool] = std::move(page);
  catalog::ProviderFacts about;
  if (const auto facts = upstream->facts()) {
    about.instructions = facts->instructions;
    about.server_info = facts->info;
  }
  const std::uint32_t place = catalog::View::kMaxFront + *rank;
  pages_.insert(
      std::ranges::upper_bound(pages_, place, {}, &Live::place),
      {place, std::make_shared<const catalog::Snapshot>(upstream->name(), 0, std::move(lists), std::move(about))});
}

// As in a list, the provider in front wins a name.
void UsableTools::settle() {
  if (pages_.empty()) return;
  std::unordered_map<const catalog::Snapshot*, std::vector<std::uint32_t>*> lost;
  const auto lost_of = [&](const catalog::Snapshot& snapshot, std::span<const std::uint32_t> known) {
    auto& found = lost[&snapshot];
    if (found == nullptr) found = &lost_.emplace_back(known.begin(), known.end());
    return found;
  };
  std::unordered_map<std::string_view, std::uint32_t> taken;
  for (const Live& page : pages_) {
    const catalog::DefinitionList& list = page.snapshot->list(Kind::tool);
    for (const auto& tool : list.definitions()) {
      const catalog::Found holder = view_->find(Kind::tool, tool.shown);
      const bool held = holder && holder.definition->shown == tool.shown;
      const bool in_front = held && view_->place_of(holder) < page.place;
      if (in_front || !taken.emplace(tool.shown, page.place).second) {
        lost_of(*page.snapshot, {})->push_back(index_in(list, tool));
      } else if (held) {
        const auto part = std::ranges::find(parts_, holder.snapshot, &catalog::View::Part::snapshot);
        if (part != parts_.end())
          lost_of(*holder.snapshot, part->lost)
              ->push_back(index_in(holder.snapshot->list(Kind::tool), *holder.definition));
      }
    }
  }
  std::vector<catalog::View::Part> all;
  std::vector<bool> live;
  const auto add = [&](catalog::View::Part part, bool is_live) {
    if (const auto more = lost.find(part.snapshot); more != lost.end()) {
      std::ranges::sort(*more->second);
      part.lost = *more->second;
    }
    all.push_back(part);
    live.push_back(is_live);
  };
  auto page = pages_.begin();
  for (const auto& part : parts_) {
    for (; page != pages_.end() && page->place < view_->place_of({nullptr, part.snapshot}); ++page)
      add({page->snapshot.get(), {}}, true);
    add(part, false);
  }
  for (; page != pages_.end(); ++page)
    add({page->snapshot.get(), {}}, true);
  parts_ = std::move(all);
  live_ = std::move(live);
}

void UsableTools::keep_only(std::string_view upstream) {
  std::vector<catalog::View::Part> parts;
  std::vector<bool> live;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].snapshot->upstream().value() != upstream) continue;
    parts.push_back(parts_[i]);
    live.push_back(live_[i]);
  }
  parts_ = std::move(parts);
  live_ = std::move(live);
  std::erase_if(unanswered_, [&](const std::string& name) { return name != upstream; });
}

catalog::Found UsableTools::find(std::string_view name) const {
  for (const auto& part : parts_) {
    const auto& list = part.snapshot->list(Kind::tool);
    const auto* const tool = list.find(name);
    if (tool != nullptr && !std::ranges::binary_search(part.lost, index_in(list, *tool))) return {tool, part.snapshot};
  }
  const catalog::Found found = view_->find(Kind::tool, name);
  return found.snapshot == search_definitions().get() ? catalog::Found{} : found;
}

bool UsableTools::has_upstream(std::string_view name) const {
  return std::ranges::any_of(parts_, [&](const auto& part) { return part.snapshot->upstream().value() == name; }) ||
         std::ranges::find(unanswered_, name) != unanswered_.end();
}

Task<UsableTools> UsableToolsReader::run() {
  const server::Caller& caller = lists_.asker().caller;
  const catalog::Access& access = principal_of(caller).access();
  if (worker_.upstreams().any_expiring) co_await freshen(expired_for(access, worker_.upstreams()));
  const auto view = worker_.view(caller, lists_.asker().session);
  UsableTools tools(view);
  if (!worker_.upstreams().any_direct || !access.may_have(Kind::tool)) co_return tools;
  TaskGroup asking(co_await boost::asio::this_coro::executor);
  for (const ServedUpstream& served : worker_.upstreams().order) {
    if (!served->is_direct() || !access.allows(served->name())) continue;
    const auto facts = served->facts();
    if (facts && !facts->offers.tools.offered) continue;
    asking.spawn("live list for a search", read_one(served, view, tools));
  }
  co_await asking.join();
  tools.settle();
  co_return tools;
}

Task<> UsableToolsReader::read_one(ServedUpstream upstream, std::shared_ptr<const catalog::View> view,
                                   UsableTools& into) {
  ListCall asking(lists_.asker(), Kind::tool, cancellation_);
  LivePages live(asking.call(), worker_, means_);
  const auto pages = co_await live.read_all(upstream, Kind::tool, lists_, kMost);
  if (!pages) {
    into.add_unanswered(upstream->settings().name);
    co_return;
  }
  for (const auto& page : *pages) {
    const std::size_t size = page->joined().size();
    if (view->lens() == nullptr) {
      into.add_live(upstream, page);
    } else {
      into.add_live(upstream,
                    co_await upstream->background().run(size, [view, page] { return view->lens()->through(page); }));
    }
  }
}

}  // namespace proteus::gateway
