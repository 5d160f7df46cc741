#include "catalog/contexts/listed_lens.hpp"

namespace proteus::catalog {

ListedLens::ListedLens(const Lens* first, const std::vector<std::string>& always) : first_(first), always_(always) {}

SnapshotPointer ListedLens::through(const SnapshotPointer& snapshot) const {
  return seen_.get(first_ != nullptr ? first_->through(snapshot) : snapshot,
                   [this](const DefinitionList::Pointer& list) { return left_of(list); });
}

DefinitionList::Pointer ListedLens::through(const DefinitionList::Pointer& list) const {
  return left_of(first_ != nullptr ? first_->through(list) : list);
}

DefinitionList::Pointer ListedLens::left_of(const DefinitionList::Pointer& list) const {
  if (list->kind() != Kind::tool) return list;
  if (leaves_nothing(Kind::tool)) return DefinitionList::empty(Kind::tool);
  return DefinitionList::derive(list, [&](const Definition& tool) -> DefinitionList::Face {
    return {.kept = always_.fit(Kind::tool, {tool.shown, tool.own, list->rules().prefix}, ComparedBy::any_name)};
  });
}

bool ListedLens::admits(Kind kind, const Names& names) const {
  if (kind == Kind::tool && !always_.fit(kind, names, ComparedBy::any_name)) return false;
  return first_ == nullptr || first_->admits(kind, names);
}

}  // namespace proteus::catalog
