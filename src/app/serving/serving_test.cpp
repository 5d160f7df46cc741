// The start and the reload of a gateway, in process.
#include "app/serving/serving.hpp"

#include <fstream>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/testing/config_support.hpp"
#include "datasets/mapping/mapping_directory.hpp"
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

constexpr std::string_view kAdaMayCall =
    "[auth]\nanonymous = \"never\"\n[[auth.tokens]]\nname = \"ada\"\ntoken_env = \"ADA\"\n";
constexpr std::string_view kNobodyMayCall = "[auth]\nanonymous = \"never\"\n";

// Another process that holds on to the store.
store::SqliteConnection open_beside(const std::filesystem::path& data) {
  return store::SqliteConnection::open(data / "proteus.db", store::SqliteAccess::read_write, std::chrono::seconds(5))
      .value();
}

class ServingReload : public ServingTest {
 protected:
  ServingReload() {
    set("ADA", "secret-of-ada");
    set("PROTEUS_ADMIN_SECRET", "secret-of-admin");
  }

  void begin(const std::string& toml) {
    serving_ = start(toml).value();
    port_ = net::Url::parse(serving_->url())->port();
  }
  int status_for_ada() const { return ask("GET", "/mcp", "Authorization: Bearer secret-of-ada").status; }
  net::Answer ask_as_admin(std::string_view method, std::string_view path) const {
    return ask(method, path, "X-Admin-Secret: secret-of-admin");
  }

  std::unique_ptr<Serving> serving_;

 private:
  net::Answer ask(std::string_view method, std::string_view path, std::string_view credentials) const {
    net::RawClient client(port_);
    client.send(
        fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}\r\nContent-Length: 0\r\n\r\n", method, path, credentials));
    return client.receive();
  }

  std::uint16_t port_ = 0;
};

// AUT-04: what a reload withdraws must not depend on the store.
TEST_F(ServingReload, WithdrawsATokenThoughTheStoreCannotBeRead) {
  begin(std::string(kAdaMayCall));
  EXPECT_NE(status_for_ada(), 401);
  auto other = open_beside(file("data"));
  ASSERT_TRUE(other.execute("ALTER TABLE upstreams RENAME TO away"));
  const auto after =
      config(std::string(kNobodyMayCall) + "[[upstreams]]\nname = \"new\"\nurl = \"http://127.0.0.1:9/\"\n");
  EXPECT_FALSE(serving_->reload(after));
  EXPECT_EQ(status_for_ada(), 401);
  EXPECT_FALSE(serving_->reload_upstreams());
  ASSERT_TRUE(other.execute("ALTER TABLE away RENAME TO upstreams"));
  EXPECT_TRUE(serving_->reload_upstreams());
}

// What a token may use from now on may count on it.
TEST_F(ServingReload, LimitsTheUpstreamsOfTheFileThoughTheStoreCannotBeRead) {
  const std::string bank = "[[upstreams]]\nname = \"bank\"\nurl = \"http://127.0.0.1:9/\"\n";
  begin(std::string(kAdaMayCall) + bank);
  EXPECT_THAT(ask_as_admin("GET", "/admin/upstreams").body, HasSubstr(R"("enabled":true)"));
  auto other = open_beside(file("data"));
  ASSERT_TRUE(other.execute("ALTER TABLE upstreams RENAME TO away"));
  EXPECT_FALSE(serving_->reload(config(std::string(kAdaMayCall) + bank + "enabled = false\n")));
  EXPECT_THAT(ask_as_admin("GET", "/admin/upstreams").body, HasSubstr(R"("enabled":false)"));
  EXPECT_FALSE(serving_->reload_upstreams()) << "the store may have something else";
  ASSERT_TRUE(other.execute("ALTER TABLE away RENAME TO upstreams"));
  EXPECT_TRUE(serving_->reload_upstreams());
}

// AUT-04
TEST_F(ServingReload, WithdrawsATokenWhileTheStoreTakesNothingAndADatasetIsBeingConnected) {
  set("PROTEUS_PEPPER", "pepper");
  constexpr std::string_view kMapping =
      "[dataset]\nname = \"acme\"\ndsn_env = \"ACME_DSN\"\n[[entities]]\ntable = \"employees\"\n"
      "type = \"person\"\nid_column = \"id\"\nname_column = \"name\"\n";
  ASSERT_TRUE(datasets::MappingDirectory(file("mappings"), datasets::Seals("pepper"))
                  .ratify(kMapping, datasets::parse_mapping(kMapping).value().mapping, "alice",
                          std::chrono::system_clock::now()));
  begin(std::string(kAdaMayCall));
  auto other = open_beside(file("data"));
  ASSERT_TRUE(other.execute("BEGIN IMMEDIATE"));
  auto connecting =
      std::async(std::launch::async, [this] { return ask_as_admin("POST", "/admin/datasets/acme/connect").status; });
  ASSERT_EQ(connecting.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  auto reloading = std::async(std::launch::async,
                              [this, after = config(std::string(kNobodyMayCall))] { return serving_->reload(after); });
  while (status_for_ada() != 401)
    std::this_thread::yield();
  EXPECT_EQ(connecting.wait_for(std::chrono::seconds(0)), std::future_status::timeout) << "the store is still held";
  ASSERT_TRUE(other.execute("COMMIT"));
  EXPECT_EQ(connecting.get(), 200);
  EXPECT_TRUE(reloading.get());
}

}  // namespace
}  // namespace proteus::app
