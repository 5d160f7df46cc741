#include "catalog/view/view.hpp"

#include <algorithm>
#include <stdexcept>

namespace proteus::catalog {

View::View(CatalogState::Pointer state, Layers layers)
    : state_(std::move(state)),
      layers_(std::move(layers)),
      lens_(layers_.access.entries() ? EntryFilter::before(layers_.access.entries(), layers_.lens) : layers_.lens),
      scope_(layers_.access.fingerprint() + "\n" + layers_.context) {
  if (layers_.front.size() > kMaxFront) throw std::logic_error("a view has too many layers in front");
  if (layers_.access.is_all() && layers_.front.empty() && !lens_) return;
  choose_seen();
  for (const Kind kind : kKinds)
    find_losers(kind);
  for (auto& [place, indices] : losers_) {
    std::ranges::sort(indices);
    const auto doubles = std::ranges::unique(indices);
    indices.erase(doubles.begin(), doubles.end());
  }
}

void View::choose_seen() {
  seen_.emplace(state_->places(), nullptr);
  for (std::uint32_t rank = 0; rank < state_->places(); ++rank) {
    const SnapshotPointer& snapshot = state_->pointer_at(rank);
    if (!snapshot || !layers_.access.allows(snapshot->upstream())) continue;
    (*seen_)[rank] = snapshot.get();
    if (!lens_) continue;
    auto other = lens_->through(snapshot);
    (*seen_)[rank] = other.get();
    if (other != snapshot) through_lens_.push_back(std::move(other));
  }
}

// A name can be shadowed here only if it is shadowed in the catalog or the front has it.
void View::find_losers(Kind kind) {
  const auto judge = [&](std::uint32_t place, std::string_view name, std::uint32_t hash) {
    const Snapshot* const snapshot = at(place);
    if (snapshot == nullptr) return;
    const DefinitionList& list = snapshot->list(kind);
    const Definition* const own = list.find(name, hash);
    if (own == nullptr || winner(kind, name, hash).second == place) return;
    losers_[{place, kind}].push_back(static_cast<std::uint32_t>(own - list.definitions().data()));
  };
  for (std::uint32_t rank = 0; rank < state_->places(); ++rank) {
    for (const std::uint32_t index : state_->shadowed(rank, kind)) {
      const std::string_view name = state_->at(rank)->list(kind)[index].shown;
      judge(kMaxFront + rank, name, name_hash(name));
    }
  }
  for (std::uint32_t place = 0; place < layers_.front.size(); ++place) {
    if (layers_.front[place] == nullptr) continue;
    for (const Definition& definition : layers_.front[place]->list(kind).definitions()) {
      const std::uint32_t hash = name_hash(definition.shown);
      judge(place, definition.shown, hash);
      for (const auto entry : state_->holders(kind, hash)) {
        const Holder holder = NameIndex::unpack(entry);
        if (!holder.alias) judge(kMaxFront + holder.rank, definition.shown, hash);
      }
    }
  }
}

const Snapshot* View::at(std::uint32_t place) const {
  if (place < kMaxFront) return place < layers_.front.size() ? layers_.front[place].get() : nullptr;
  const std::uint32_t rank = place - kMaxFront;
  return is_plain() ? state_->at(rank) : (*seen_)[rank];
}

std::span<const std::uint32_t> View::losers(std::uint32_t place, Kind kind) const {
  if (is_plain())
    return place < kMaxFront ? std::span<const std::uint32_t>{} : state_->shadowed(place - kMaxFront, kind);
  const auto found = losers_.find({place, kind});
  return found == losers_.end() ? std::span<const std::uint32_t>{} : found->second;
}

std::pair<Found, std::uint32_t> View::winner(Kind kind, std::string_view name, std::uint32_t hash) const {
  const auto look = [&](std::uint32_t place) -> Found {
    const Snapshot* const snapshot = at(place);
    if (snapshot == nullptr) return {};
    return {snapshot->list(kind).find(name, hash), snapshot};
  };
  for (std::uint32_t place = 0; place < layers_.front.size(); ++place) {
    if (const Found found = look(place)) return {found, place};
  }
  for (const auto entry : state_->holders(kind, hash)) {
    const Holder holder = NameIndex::unpack(entry);
    if (holder.alias) break;
    if (const Found found = look(kMaxFront + holder.rank)) return {found, kMaxFront + holder.rank};
  }
  return {};
}

Found View::find(Kind kind, std::string_view name) const {
  const std::uint32_t hash = name_hash(name);
  if (const Found found = winner(kind, name, hash).first) return found;
  for (const auto& snapshot : layers_.front) {
    if (!snapshot) continue;
    if (const auto* definition = snapshot->list(kind).find_alias(name, hash)) return {definition, snapshot.get()};
  }
  for (const auto entry : state_->holders(kind, hash)) {
    const Holder holder = NameIndex::unpack(entry);
    const Snapshot* const snapshot = holder.alias ? at(kMaxFront + holder.rank) : nullptr;
    if (snapshot == nullptr) continue;
    const Definition* const definition = snapshot->list(kind).find_alias(name, hash);
    // A provider that lost the shown name has lost the alias, too: what is not listed cannot be called.
    if (definition == nullptr) continue;
    const auto shown = winner(kind, definition->shown, name_hash(definition->shown));
    if (shown.first.definition == definition) return shown.first;
  }
  return {};
}

std::uint32_t View::place_of(const Found& found) const {
  for (std::uint32_t place = 0; place < layers_.front.size(); ++place) {
    if (layers_.front[place].get() == found.snapshot) return place;
  }
  const auto rank = state_->ranks().of(found.snapshot->upstream());
  return rank ? kMaxFront + *rank : 0;
}

Found View::match_template(std::string_view uri) const {
  TemplateBudget budget(mcp::UriPattern::kSteps);
  return match_template(uri, budget);
}

Found View::match_template(std::string_view uri, TemplateBudget& budget) const {
  if (uri.size() > kLongestUri) return {};
  for (std::uint32_t place = 0; place < places(); ++place) {
    const Snapshot* const snapshot = at(place);
    if (snapshot == nullptr) continue;
    const DefinitionList& list = snapshot->list(Kind::resource_template);
    if (list.size() == 0) continue;
    const auto lost = losers(place, Kind::resource_template);
    std::size_t& steps = budget.of(place);
    for (const std::uint32_t index : list.by_precision()) {
      if (!list[index].pattern->matches(uri, steps) || std::ranges::binary_search(lost, index)) continue;
      return {&list[index], snapshot};
    }
  }
  return {};
}

const Snapshot* View::seen(const UpstreamName& upstream) const {
  const auto rank = state_->ranks().of(upstream);
  return rank ? at(kMaxFront + *rank) : nullptr;
}

bool View::any_tools(bool (DefinitionList::*has)() const) const {
  for (std::uint32_t place = 0; place < places(); ++place) {
    const Snapshot* const snapshot = at(place);
    if (snapshot != nullptr && (snapshot->list(Kind::tool).*has)()) return true;
  }
  return false;
}

bool View::has_modern_output() const { return any_tools(&DefinitionList::has_modern_output); }

bool View::has_task_only() const {
  Known known = task_only_.load(std::memory_order_relaxed);
  if (known == Known::nothing) {
    known = any_tools(&DefinitionList::has_task_only) ? Known::yes : Known::no;
    task_only_.store(known, std::memory_order_relaxed);
  }
  return known == Known::yes;
}

std::size_t View::count(Kind kind) const {
  std::size_t count = 0;
  for (std::uint32_t place = 0; place < places(); ++place) {
    if (const Snapshot* const snapshot = at(place)) count += snapshot->list(kind).size() - losers(place, kind).size();
  }
  return count;
}

std::vector<View::Part> View::parts(Kind kind) const {
  std::vector<Part> parts;
  for (std::uint32_t place = 0; place < places(); ++place) {
    const Snapshot* const snapshot = at(place);
    if (snapshot != nullptr && snapshot->list(kind).size() > 0) parts.push_back({snapshot, losers(place, kind)});
  }
  return parts;
}

std::vector<Shadowed> View::shadowed(const UpstreamName& upstream) const {
  std::vector<Shadowed> all;
  const auto rank = state_->ranks().of(upstream);
  if (!rank || at(kMaxFront + *rank) == nullptr) return all;
  for (const Kind kind : kKinds) {
    for (const std::uint32_t index : losers(kMaxFront + *rank, kind)) {
      const std::string_view name = at(kMaxFront + *rank)->list(kind)[index].shown;
      const Found by = winner(kind, name, name_hash(name)).first;
      all.push_back({kind, std::string(name), by.snapshot->upstream()});
    }
  }
  return all;
}

KindSet concerned(const View& before, const View& after, const Change& change) {
  KindSet set;
  for (const Kind kind : kKinds) {
    const auto differs = [&](std::string_view name) {
      const Found was = before.find(kind, name);
      const Found is = after.find(kind, name);
      if (!was || !is) return static_cast<bool>(was) != static_cast<bool>(is);
      return was.definition->hash != is.definition->hash || was.definition->text != is.definition->text ||
             was.snapshot->upstream() != is.snapshot->upstream();
    };
    const KindChange& of = change.kinds[kind];
    const auto changed = [&](const ChangedDefinition& one) { return differs(one.name); };
    if (std::ranges::any_of(of.added, differs) || std::ranges::any_of(of.removed, differs) ||
        std::ranges::any_of(of.changed, changed)) {
      set.add(kind);
    }
  }
  return set;
}

}  // namespace proteus::catalog
