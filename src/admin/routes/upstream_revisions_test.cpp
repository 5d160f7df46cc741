// Changes of upstreams that depend on what the operator has seen, also at another process.
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;

// Two processes with the same store and configuration file. The second one started later.
class UpstreamsOfTwoProcesses : public ::testing::Test {
 protected:
  UpstreamsOfTwoProcesses() {
    second_.clock.skip(std::chrono::hours(1));
    for (AdminFixture* each : {&first_, &second_})
      each->load({.upstreams = {entry({{"name", "bank"}, {"url", upstream_.url()}})}}).value();
  }

  static int patch(AdminFixture& at, const object& keys, const value& seen) {
    const std::string fields =
        fmt::format("X-Admin-Secret: {}\r\nIf-Match: {}\r\n", kSecret, boost::json::serialize(seen));
    return at.send("PATCH", "/admin/upstreams/bank", boost::json::serialize(keys), fields).status;
  }
  static void follow(AdminFixture& at) { at.run(at.registry.follow()).value(); }

  TestUpstream upstream_;
  store::MemoryStore store_;
  AdminFixture first_{store_};
  AdminFixture second_{store_};
};

// REP-03 REP-05
TEST_F(UpstreamsOfTwoProcesses, AreChangedAtOneAsTheyWereSeenAtTheOther) {
  const value of_file = first_.get("bank");
  EXPECT_NE(second_.get("bank").at("updated_at"), of_file.at("updated_at"));
  EXPECT_EQ(patch(second_, {{"timeout", "7s"}}, of_file.at("revision")), 200);
  follow(first_);
  EXPECT_EQ(patch(first_, {{"timeout", nullptr}}, second_.get("bank").at("revision")), 200);
  follow(second_);
  EXPECT_EQ(second_.get("bank").at("origin"), "file");
  EXPECT_EQ(patch(second_, {{"timeout", "8s"}}, first_.get("bank").at("revision")), 200);
}

// REP-03
TEST_F(UpstreamsOfTwoProcesses, AreNotChangedIfSomebodyChangedThemMeanwhile) {
  const value of_file = second_.get("bank");
  ASSERT_EQ(first_.ask("PATCH", "/admin/upstreams/bank", {{"timeout", "7s"}}).status, 200);
  follow(second_);
  const value overridden = second_.get("bank");
  EXPECT_EQ(patch(second_, {{"timeout", "8s"}}, of_file.at("revision")), 409);
  ASSERT_EQ(first_.ask("PATCH", "/admin/upstreams/bank", {{"timeout", "9s"}}).status, 200);
  follow(second_);
  EXPECT_EQ(patch(second_, {{"timeout", "8s"}}, overridden.at("revision")), 409);
  EXPECT_EQ(second_.get("bank").at("timeout"), "9s");
}

TEST_F(UpstreamsOfTwoProcesses, AreStillKnownByTheTimeOfTheirChange) {
  ASSERT_EQ(first_.ask("PATCH", "/admin/upstreams/bank", {{"timeout", "7s"}}).status, 200);
  follow(second_);
  EXPECT_EQ(patch(second_, {{"timeout", "8s"}}, first_.get("bank").at("updated_at")), 200);
  EXPECT_EQ(patch(second_, {{"timeout", "9s"}}, first_.get("bank").at("updated_at")), 409);
}

}  // namespace
}  // namespace proteus::admin
