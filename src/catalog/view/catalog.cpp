#include "catalog/view/catalog.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/secrets/sealing.hpp"
#include "catalog/view/view.hpp"
#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

constexpr std::size_t kMaxGaps = 64;

// Random, so that no cursor of another catalog, or of this one before a restart, has the same layout.
std::uint64_t first_layout() {
  const std::string bytes = random_bytes(sizeof(std::uint64_t));
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

Result<void> check(const std::vector<UpstreamName>& order) {
  std::unordered_set<UpstreamName> seen;
  for (const auto& name : order) {
    if (name.value().empty()) return std::unexpected(errors::invalid("an upstream needs a name"));
    if (!seen.insert(name).second) {
      return std::unexpected(errors::conflict(fmt::format("there are two upstreams {}", name.value())));
    }
  }
  if (order.size() >= Holder::kMaxRank / 2)
    return std::unexpected(errors::too_large("the number of upstreams", order.size()));
  return {};
}

std::vector<UpstreamName> live(const Ranks& ranks) {
  std::vector<UpstreamName> names;
  std::ranges::copy_if(ranks.names, std::back_inserter(names), [](const auto& name) { return !name.value().empty(); });
  return names;
}

bool any_shadowed(const CatalogState& state, Kind kind) {
  for (std::uint32_t rank = 0; rank < state.places(); ++rank) {
    if (!state.shadowed(rank, kind).empty()) return true;
  }
  return false;
}

bool same_omissions(const Snapshot& a, const Snapshot& b) {
  return std::ranges::all_of(kKinds, [&](Kind kind) {
    return a.list(kind).omitted() == b.list(kind).omitted() && a.list(kind).omissions() == b.list(kind).omissions();
  });
}

// Whether tools are called as before. What an operator adds to calls is not in their definitions.
bool same_calls(const Snapshot& a, const Snapshot& b) {
  if (a.lists()[Kind::tool] == b.lists()[Kind::tool]) return true;
  const auto any_shaped = [](const Snapshot& snapshot) {
    return std::ranges::any_of(snapshot.list(Kind::tool).definitions(),
                               [](const Definition& definition) { return definition.shaped != nullptr; });
  };
  return !any_shaped(a) && !any_shaped(b);
}

void leave(Ranks& ranks, std::uint32_t rank) {
  ranks.by_name.erase(ranks.names[rank]);
  ranks.names[rank] = {};
}

// Uses SHA-256, because the result must be the same in every process, whichever library it is built with.
std::uint64_t next_layout(std::uint64_t before, const UpstreamName& name) {
  const auto digest = json::sha256(fmt::format("{} {}", before, name.value()));
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

void join(Ranks& ranks, const UpstreamName& name, Catalog::Layout layout) {
  ranks.by_name.emplace(name, static_cast<std::uint32_t>(ranks.names.size()));
  ranks.names.push_back(name);
  if (layout == Catalog::Layout::own) return;
  ranks.shared_layouts.push_back(next_layout(ranks.shared_layouts.empty() ? 0 : ranks.shared_layouts.back(), name));
}

}  // namespace

Catalog::Catalog(Layout layout) : layout_(layout) {
  auto ranks = std::make_shared<Ranks>();
  ranks->layout = first_layout();
  StateEditor editor{CatalogState()};
  editor.rename(std::move(ranks));
  state_ = editor.take();
  version_ = state_->version();
}

CatalogState::Pointer Catalog::current() const {
  const std::lock_guard lock(swapping_);
  return state_;
}

// The number is stored last, so that a reader that sees it finds the state.
Publication Catalog::swap(CatalogState::Pointer next, std::vector<Change> changes) {
  Publication publication{nullptr, std::move(next), std::move(changes), {}};
  {
    const std::lock_guard lock(swapping_);
    publication.before = std::exchange(state_, publication.after);
  }
  version_.store(publication.after->version(), std::memory_order_release);
  const View before(publication.before);
  const View after(publication.after);
  for (const Change& change : publication.changes)
    publication.visible.add(concerned(before, after, change));
  return publication;
}

Result<Publication> Catalog::publish(SnapshotPointer snapshot) {
  const UpstreamName& upstream = snapshot->upstream();
  // Done before locking: comparing definitions may take long, and other writers need not wait for it.
  SnapshotPointer before = current()->find(upstream);
  Change change = diff(before.get(), snapshot.get());

  const std::lock_guard lock(writing_);
  const auto state = current();
  const auto rank = state->ranks().of(upstream);
  if (!rank) {
    return std::unexpected(errors::not_found(fmt::format("there is no upstream {} to publish for", upstream.value())));
  }
  std::uint64_t& version = versions_[upstream];
  if (snapshot->version() <= version) {
    return std::unexpected(errors::conflict(fmt::format("version {} of {} is published already, {} comes too late",
                                                        version, upstream.value(), snapshot->version())));
  }
  if (state->find(upstream) != before) {
    before = state->find(upstream);
    change = diff(before.get(), snapshot.get());
  }
  version = snapshot->version();
  if (before && change.empty() && before->facts() == snapshot->facts() && same_omissions(*before, *snapshot) &&
      same_calls(*before, *snapshot)) {
    return Publication{state, state, {}, {}};
  }
  StateEditor editor(*state);
  editor.put(*rank, std::move(snapshot));
  std::vector<Change> changes;
  if (!change.empty()) changes.push_back(std::move(change));
  return swap(editor.take(), std::move(changes));
}

Result<Publication> Catalog::set_order(const std::vector<UpstreamName>& order) {
  if (auto checked = check(order); !checked) return std::unexpected(checked.error());
  const std::lock_guard lock(writing_);
  const auto state = current();
  const Ranks& before = state->ranks();
  const auto names = live(before);
  if (names == order) return Publication{state, state, {}, {}};

  const std::unordered_set<UpstreamName> wanted(order.begin(), order.end());
  auto ranks = std::make_shared<Ranks>(before);
  std::vector<std::uint32_t> gone;
  std::vector<Change> changes;
  for (const auto& name : names) {
    if (wanted.contains(name)) continue;
    gone.push_back(*before.of(name));
    versions_.erase(name);
    leave(*ranks, gone.back());
    Change change = diff(state->at(gone.back()), nullptr);
    if (!change.empty()) changes.push_back(std::move(change));
  }
  const auto kept = live(*ranks);
  const std::size_t gaps = ranks->names.size() - kept.size();
  StateEditor editor(*state);
  const std::size_t most_gaps = layout_ == Layout::shared ? 0 : std::max(kMaxGaps, order.size());
  if (std::ranges::equal(kept, std::span(order).first(kept.size())) && gaps <= most_gaps) {
    for (const auto rank : gone)
      editor.put(rank, nullptr);
    for (const auto& name : std::span(order).subspan(kept.size()))
      join(*ranks, name, layout_);
    editor.rename(std::move(ranks));
    return swap(editor.take(), std::move(changes));
  }

  auto anew = std::make_shared<Ranks>();
  anew->layout = before.layout + 1;
  std::vector<std::optional<std::uint32_t>> from;
  for (const auto& name : order) {
    from.push_back(before.of(name));
    join(*anew, name, layout_);
  }
  editor.reorder(std::move(anew), from);
  auto publication = swap(editor.take(), std::move(changes));
  // Another provider may win a name now.
  for (const Kind kind : kKinds) {
    if (any_shadowed(*publication.before, kind) || any_shadowed(*publication.after, kind))
      publication.visible.add(kind);
  }
  return publication;
}

}  // namespace proteus::catalog
