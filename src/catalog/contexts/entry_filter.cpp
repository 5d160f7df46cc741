#include "catalog/contexts/entry_filter.hpp"

#include <algorithm>

namespace proteus::catalog {
namespace {

class LensChain final : public Lens {
 public:
  LensChain(std::shared_ptr<const Lens> first, std::shared_ptr<const Lens> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  SnapshotPointer through(const SnapshotPointer& snapshot) const override {
    return second_->through(first_->through(snapshot));
  }
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override {
    return second_->through(first_->through(list));
  }
  bool admits(Kind kind, const Names& names) const override {
    return first_->admits(kind, names) && second_->admits(kind, names);
  }
  bool leaves_nothing(Kind kind) const override {
    return first_->leaves_nothing(kind) || second_->leaves_nothing(kind);
  }

 private:
  const std::shared_ptr<const Lens> first_;
  const std::shared_ptr<const Lens> second_;
};

}  // namespace

bool EntryRules::allow_all() const {
  const EntrySelection selection{EntryPatterns(allow), EntryPatterns(deny)};
  return !read_only && std::ranges::none_of(kKinds, [&](Kind kind) { return selection.filters(kind); });
}

EntryFilter::EntryFilter(const EntryRules& rules)
    : selection_{EntryPatterns(rules.allow), EntryPatterns(rules.deny)}, read_only_(rules.read_only) {}

SnapshotPointer EntryFilter::through(const SnapshotPointer& snapshot) const {
  used_.store(true, std::memory_order_relaxed);
  return seen_.get(snapshot, [this](const DefinitionList::Pointer& list) { return through(list); });
}

DefinitionList::Pointer EntryFilter::through(const DefinitionList::Pointer& list) const {
  const Kind kind = list->kind();
  if (!filters(kind)) return list;
  return DefinitionList::derive(list, [&](const Definition& definition) -> DefinitionList::Face {
    const Names names{definition.shown, definition.own, list->rules().prefix};
    return {.kept = (definition.read_only || !only_read_only(kind)) && admits(kind, names)};
  });
}

bool EntryFilter::admits(Kind kind, const Names& names) const {
  return selection_.admits(kind, names, ComparedBy::shown_name);
}

std::shared_ptr<const Lens> EntryFilter::before(const std::shared_ptr<const EntryFilter>& self,
                                                const std::shared_ptr<const Lens>& behind) {
  if (!behind) return self;
  {
    const std::scoped_lock lock(self->mutex_);
    std::erase_if(self->behind_, [](const auto& weak) { return weak.expired(); });
    if (std::ranges::none_of(self->behind_, [&](const auto& weak) { return weak.lock() == behind; }))
      self->behind_.push_back(behind);
  }
  return std::make_shared<const LensChain>(self, behind);
}

void EntryFilter::look_at(const SnapshotPointer& snapshot) const {
  if (!used_.load(std::memory_order_relaxed)) return;
  const SnapshotPointer left = through(snapshot);
  std::vector<std::weak_ptr<const Lens>> all;
  {
    const std::scoped_lock lock(mutex_);
    all = behind_;
  }
  for (const auto& weak : all) {
    if (const auto lens = weak.lock()) lens->through(left);
  }
}

}  // namespace proteus::catalog
