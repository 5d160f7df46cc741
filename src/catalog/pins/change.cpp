#include "catalog/pins/change.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::catalog {
namespace {

// Compares two lists, both of which are sorted by name.
KindChange diff(Kind kind, const DefinitionList& before, const DefinitionList& after) {
  KindChange change;
  if (&before == &after) return change;
  auto old = before.definitions().begin();
  auto now = after.definitions().begin();
  while (old != before.definitions().end() || now != after.definitions().end()) {
    if (now == after.definitions().end() || (old != before.definitions().end() && old->shown < now->shown)) {
      change.removed.emplace_back((old++)->shown);
    } else if (old == before.definitions().end() || now->shown < old->shown) {
      change.added.emplace_back((now++)->shown);
    } else {
      if (old->hash != now->hash) change.changed.push_back(compare(kind, *old, *now));
      ++old;
      ++now;
    }
  }
  return change;
}

void write_names(std::string& out, const std::vector<std::string>& names) {
  out.push_back('[');
  for (const auto& name : names) {
    if (out.back() != '[') out.push_back(',');
    json::append_quoted(out, name);
  }
  out.push_back(']');
}

}  // namespace

const KindChange& KindChanges::operator[](Kind kind) const {
  static const KindChange none;
  return kinds_ ? (*kinds_)[kind] : none;
}

bool Change::empty() const { return which().empty(); }

KindSet Change::which() const {
  KindSet set;
  for (const Kind kind : kKinds) {
    if (!kinds[kind].empty()) set.add(kind);
  }
  return set;
}

Change diff(const Snapshot* before, const Snapshot* after) {
  if (before == nullptr && after == nullptr) return {};
  PerKind<KindChange> kinds;
  for (const Kind kind : kKinds) {
    const auto none = DefinitionList::empty(kind);
    kinds[kind] =
        diff(kind, before != nullptr ? before->list(kind) : *none, after != nullptr ? after->list(kind) : *none);
  }
  return {(after != nullptr ? after : before)->upstream(), KindChanges(std::move(kinds))};
}

std::string write_change(const Change& change) {
  std::string out;
  for (const Kind kind : kKinds) {
    const KindChange& of = change.kinds[kind];
    out += fmt::format("{}\"{}\":{{\"added\":", out.empty() ? "" : ",", info(kind).plural);
    write_names(out, of.added);
    out += ",\"removed\":";
    write_names(out, of.removed);
    out += ",\"changed\":[";
    for (const auto& one : of.changed) {
      if (out.back() != '[') out.push_back(',');
      out += fmt::format("{{\"name\":{},\"breaking\":{},\"reasons\":", json::quote(one.name),
                         one.compatibility == Compatibility::breaking);
      write_names(out, one.reasons);
      out.push_back('}');
    }
    out += "]}";
  }
  return out;
}

}  // namespace proteus::catalog
