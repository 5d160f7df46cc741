// What is served of an upstream whose definitions a person ratifies.
#include <array>
#include <utility>

#include "base/log.hpp"
#include "providers/upstream.hpp"

namespace proteus::providers {

// What is served of what is offered: that which was ratified, in the form it was ratified in. What is listed live is
// cut where it is listed, and read here only to be proposed.
Result<catalog::SnapshotPointer> Upstream::pinned(const catalog::Snapshot& listed) {
  PinBoard& pins = *around_.pins;
  catalog::RawListing raw;
  raw.facts = listed.facts();
  std::array<std::vector<std::string>, catalog::kKinds.size()> texts;
  for (const catalog::Kind kind : catalog::kKinds) {
    auto& served = texts.at(catalog::index_of(kind)) = pins.judge(listed.list(kind), Reading::whole);
    if (is_direct()) served.clear();
    raw.definitions[kind].emplace(served.begin(), served.end());
  }
  pins.judge_instructions(listed.facts().instructions);
  raw.facts.instructions = pins.instructions();
  return catalog::build_snapshot(name_, listed.version(), std::move(raw), rules_, around_.limits.definitions,
                                 snapshot_);
}

Result<catalog::DefinitionList::Pointer> Upstream::as_ratified(catalog::DefinitionList::Pointer listed) const {
  if (!around_.pins) return listed;
  const auto served = around_.pins->judge(*listed, Reading::part);
  const std::vector<std::string_view> texts(served.begin(), served.end());
  return catalog::DefinitionList::build(listed->kind(), texts, rules_, around_.limits.definitions);
}

void Upstream::report_pins() {
  const auto counts = around_.pins->counts();
  if (counts == std::exchange(reported_, counts)) return;
  if (counts.proposals > 0) {
    log::warning(
        "upstream {} is pinned: {} of its definitions are ratified, {} wait for it; `proteus tools diff` shows them",
        settings_.label(), counts.ratified, counts.proposals);
  }
  if (counts.blocked > 0) {
    log::warning("upstream {} is pinned: {} of its definitions changed so that calls are blocked", settings_.label(),
                 counts.blocked);
  }
}

}  // namespace proteus::providers
