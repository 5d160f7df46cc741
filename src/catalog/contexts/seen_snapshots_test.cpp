#include "catalog/contexts/seen_snapshots.hpp"

#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

SnapshotPointer empty_snapshot() {
  Snapshot::Lists lists;
  for (const Kind kind : kKinds)
    lists[kind] = DefinitionList::empty(kind);
  return std::make_shared<const Snapshot>(UpstreamName("bank"), 1, std::move(lists));
}

// ADR 24: a view costs nothing for upstreams that its rules do not concern.
TEST(SeenSnapshots, LookOnceAtASnapshotThatTheLensLeavesAsItIs) {
  SeenSnapshots seen;
  const auto snapshot = empty_snapshot();
  int looks = 0;
  const auto lens = [&](const DefinitionList::Pointer& list) {
    ++looks;
    return list;
  };
  EXPECT_EQ(seen.get(snapshot, lens), snapshot);
  const int once = looks;
  EXPECT_GT(once, 0);
  EXPECT_EQ(seen.get(snapshot, lens), snapshot);
  EXPECT_EQ(looks, once);
}

TEST(SeenSnapshots, KeepNoSnapshotAlive) {
  SeenSnapshots seen;
  auto snapshot = empty_snapshot();
  const std::weak_ptr<const Snapshot> watched = snapshot;
  (void)seen.get(snapshot, [](const DefinitionList::Pointer& list) { return list; });
  snapshot.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace proteus::catalog
