// REP-02: datasets that another process connected.
#include <filesystem>
#include <fstream>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "base/testing/test_run.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "store/memory_store.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

// A directory that cannot be read yet does not mean that the file of a dataset is gone.
TEST(KeptDatasets, AreNotWithdrawnBeforeTheDirectoryWasRead) {
  const store::test::TemporaryDirectory folder;
  const auto mappings = folder.path() / "mappings";
  std::ofstream(mappings) << "no directory";
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  const ManualClock clock;
  store::MemoryStore store{{}};
  ASSERT_TRUE(proteus::test::run(io, store.put(store::Setting{"datasets.connected.acme", "hash"})));
  DatasetRegistry registry({io, store, clock, fixed_environment({}), true}, {mappings, datasets::Seals("pepper")},
                           Offering::always);
  ASSERT_TRUE(proteus::test::run(io, registry.load()));
  EXPECT_NE(registry.state()->fault, "");
  ASSERT_TRUE(proteus::test::run(io, registry.follow()));
  EXPECT_THAT(registry.state()->withdrawn, IsEmpty());
  std::filesystem::remove(mappings);
  std::filesystem::create_directory(mappings);
  proteus::test::run(io, registry.look());
  EXPECT_THAT(registry.state()->withdrawn, ElementsAre(Key("acme")));
  ASSERT_TRUE(proteus::test::run(io, store.put(store::Setting{"datasets.connected.bolt", "hash"})));
  ASSERT_TRUE(proteus::test::run(io, registry.follow()));
  EXPECT_THAT(registry.state()->withdrawn, ElementsAre(Key("acme"), Key("bolt")));
  proteus::test::run(io, registry.stop());
}

}  // namespace
}  // namespace proteus::gateway
