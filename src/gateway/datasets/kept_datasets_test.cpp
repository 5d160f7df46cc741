// REP-02: datasets that another process connected.
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/testing/test_run.hpp"
#include "base/unique_fd.hpp"
#include "datasets/testing/test_database.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "store/memory_store.hpp"
#include "store/testing/full_store.hpp"
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

// A store in which something happens just before settings are read.
class InterruptedSettings final : public store::test::FullStore {
 public:
  Task<Result<std::vector<store::Setting>>> settings(std::string prefix) override {
    if (const auto first = std::exchange(before_reading, {})) co_await first();
    co_return co_await FullStore::settings(std::move(prefix));
  }

  std::function<Task<>()> before_reading;
};

// Two processes that share a store and a directory of mappings.
class SharedDatasets : public ::testing::Test {
 protected:
  SharedDatasets() {
    std::filesystem::create_directory(mappings());
    for (DatasetRegistry* const each : {&here_, &there_}) {
      each->set_on_changed([this](const DatasetState& state) { withdrawals_ += state.withdrawn.size(); });
      run(each->load()).value();
    }
  }
  ~SharedDatasets() override {
    run(here_.stop());
    run(there_.stop());
  }

  template <class T>
  T run(Task<T> task) {
    return proteus::test::run(io_, std::move(task));
  }
  std::filesystem::path mappings() const { return folder_.path(); }
  datasets::MappingDirectory directory() const { return {mappings(), datasets::Seals("pepper")}; }
  void ratify(int second) const {
    directory()
        .ratify(datasets::test::kCompanyMapping,
                datasets::parse_mapping(datasets::test::kCompanyMapping).value().mapping, "alice",
                std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000 + second)))
        .value();
  }

  const store::test::TemporaryDirectory folder_;
  boost::asio::io_context io_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(io_);
  const ManualClock clock_;
  InterruptedSettings store_;
  DatasetRegistry here_{{io_, store_, clock_, fixed_environment({}), true}, directory(), Offering::always};
  DatasetRegistry there_{{io_, store_, clock_, fixed_environment({}), true}, directory(), Offering::always};
  std::size_t withdrawals_ = 0;
};

TEST_F(SharedDatasets, ThatWereRatifiedAMomentAgoStayConnected) {
  ratify(0);
  ASSERT_TRUE(run(here_.connect("acme", "alice")));
  ASSERT_TRUE(run(there_.follow()));
  EXPECT_THAT(there_.state()->connected, ElementsAre(Key("acme")));
  ratify(1);
  run(here_.look());
  ASSERT_TRUE(run(there_.follow()));
  EXPECT_THAT(there_.state()->connected, ElementsAre(Key("acme")));
  ASSERT_TRUE(run(here_.disconnect("acme", "alice")));
  ASSERT_TRUE(run(there_.follow()));
  EXPECT_THAT(there_.state()->connected, IsEmpty());
  EXPECT_EQ(withdrawals_, 0U);
}

// The directory was read just before another process read a newer ratification there.
TEST_F(SharedDatasets, AreNotComparedWithWhatWasReadBeforeTheyWereRatified) {
  ratify(0);
  ASSERT_TRUE(run(here_.connect("acme", "alice")));
  ASSERT_TRUE(run(there_.follow()));
  const UniqueFd seen(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  std::ofstream(mappings() / "other.toml") << "not yet a mapping";
  ASSERT_GE(::inotify_add_watch(seen.get(), (mappings() / "other.toml").c_str(), IN_CLOSE_NOWRITE), 0);
  bool was_interrupted = false;
  store_.before_reading = [&]() -> Task<> {
    boost::asio::co_spawn(io_, there_.look(), boost::asio::detached);
    std::array<char, 4096> event{};
    while (::read(seen.get(), event.data(), event.size()) <= 0)
      co_await boost::asio::post(io_, boost::asio::use_awaitable);
    ratify(1);
    co_await here_.look();
    was_interrupted = true;
  };
  ASSERT_TRUE(run(there_.follow()));
  EXPECT_TRUE(was_interrupted);
  EXPECT_THAT(there_.state()->connected, ElementsAre(Key("acme")));
  EXPECT_EQ(withdrawals_, 0U);
}

}  // namespace
}  // namespace proteus::gateway
