#include "cluster/peers/roster.hpp"

#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "store/memory_store.hpp"

namespace proteus::cluster {
namespace {

using namespace std::chrono_literals;

class RosterTest : public ::testing::Test {
 protected:
  static store::MemberRecord record(std::string name, std::string facts, std::chrono::microseconds unseen = 0us) {
    return {.name = std::move(name), .facts = std::move(facts), .applied = 0, .unseen = unseen};
  }
  void join(std::string name, std::string facts) {
    store::Writes writes;
    writes.emplace_back(store::Attend{record(std::move(name), std::move(facts))});
    test::run(io, store.write(std::move(writes))).value();
  }
  PeerPointer find(const std::string& name) { return test::run(io, roster.find(process_key_of(name))).value(); }

  boost::asio::io_context io;
  ManualClock clock;
  store::MemoryStore store;
  Member member{io, store, clock, {.name = "self", .facts = "{}"}};
  Roster roster{store, member};
};

TEST_F(RosterTest, KnowsThoseThatLiveAndHaveAnAddress) {
  roster.take({record("there", R"({"peer_url":"https://10.0.0.1:9"})"),
               record("dead", R"({"peer_url":"https://10.0.0.2:9"})", 4s), record("silent", "{}"),
               record("plain", R"({"peer_url":"http://10.0.0.3:9"})"), record("odd", "[")});
  const auto found = find("there");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "there");
  EXPECT_EQ(found->url.text(), "https://10.0.0.1:9/");
  for (const char* name : {"dead", "silent", "plain", "odd", "unknown"})
    EXPECT_FALSE(find(name)) << name;
}

TEST_F(RosterTest, LooksForThoseThatBeganSince) {
  roster.take({});
  join("new", R"({"peer_url":"https://10.0.0.1:9"})");
  EXPECT_TRUE(find("new"));
  EXPECT_FALSE(find("later"));
  join("later", R"({"peer_url":"https://10.0.0.2:9"})");
  EXPECT_FALSE(find("later")) << "the store is not asked each time for the same";
  clock.advance(1s);
  EXPECT_TRUE(find("later"));
}

}  // namespace
}  // namespace proteus::cluster
