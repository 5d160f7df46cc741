// The start and the reload of a gateway, in process.
#include "app/serving/serving.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/testing/config_support.hpp"
#include "net/testing/raw_client.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::app {
namespace {

using ::testing::HasSubstr;

class ServingTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return directory_.path() / name; }

  Config config(const std::string& toml = {}) const {
    return read("[server]\nlisten = \"127.0.0.1:0\"\nthreads = 1\n" + toml, variables_).config.value();
  }
  Result<std::unique_ptr<Serving>> start(const std::string& toml = {}) const {
    return Serving::start(config(toml), fixed_environment(variables_));
  }
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }

 private:
  store::test::TemporaryDirectory directory_;
  std::map<std::string, std::string> variables_ = {{"PROTEUS_DATA", file("data").string()},
                                                   {"PROTEUS_MAPPINGS", file("mappings").string()}};
};

TEST_F(ServingTest, DoesNotStartIfTheRecordOfRatificationsCannotMoveToTheNewPepper) {
  std::filesystem::create_directories(file("mappings"));
  std::ofstream(file("mappings") / "ratified.toml") << "[people\n";
  set("PROTEUS_PEPPER", "new");
  set("PROTEUS_PEPPER_PREVIOUS", "old");
  const auto started = start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("ratified.toml"));
}

// AUT-04: what a reload withdraws must not depend on the store.
TEST_F(ServingTest, WithdrawsATokenAtAReloadThoughTheStoreCannotBeRead) {
  set("ADA", "secret-of-ada");
  const std::string before = "[auth]\nanonymous = \"never\"\n[[auth.tokens]]\nname = \"ada\"\ntoken_env = \"ADA\"\n";
  const auto started = start(before);
  ASSERT_TRUE(started) << started.error().message();
  Serving& serving = **started;
  const auto status = [&] {
    net::RawClient client(net::Url::parse(serving.url())->port());
    client.send("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret-of-ada\r\n\r\n");
    return client.receive().status;
  };
  EXPECT_NE(status(), 401);

  auto other = store::SqliteConnection::open(file("data") / "proteus.db", store::SqliteAccess::read_write,
                                             std::chrono::seconds(5))
                   .value();
  ASSERT_TRUE(other.execute("ALTER TABLE upstreams RENAME TO away"));
  const auto after =
      config("[auth]\nanonymous = \"never\"\n[[upstreams]]\nname = \"new\"\nurl = \"http://127.0.0.1:9/\"\n");
  EXPECT_FALSE(serving.reload(after));
  EXPECT_EQ(status(), 401);
  EXPECT_FALSE(serving.reload_upstreams());
  ASSERT_TRUE(other.execute("ALTER TABLE away RENAME TO upstreams"));
  EXPECT_TRUE(serving.reload_upstreams());
}

}  // namespace
}  // namespace proteus::app
