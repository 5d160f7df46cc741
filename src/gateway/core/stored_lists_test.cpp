// Upstreams whose lists come from the store: after their settings have changed, and if another process reads them.
#include <algorithm>

#include <gmock/gmock.h>

#include "gateway/testing/freshness_fixture.hpp"
#include "store/testing/full_store.hpp"

namespace proteus::gateway {
namespace {

using test::Shop;
using test::TestGateway;
using test::upstream_at;
using test::wait_until;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class StoreWithoutLists final : public store::test::FullStore {
 public:
  Task<Result<std::vector<store::SnapshotRecord>>> snapshots() override {
    if (away) co_return std::unexpected(errors::unavailable("the store is away"));
    co_return co_await FullStore::snapshots();
  }
  Task<Result<std::vector<store::SnapshotRecord>>> snapshots_of(std::string upstream) override {
    if (away) co_return std::unexpected(errors::unavailable("the store is away"));
    co_return co_await FullStore::snapshots_of(std::move(upstream));
  }

  std::atomic<bool> away = false;
};

class StoredLists : public ::testing::Test {
 protected:
  StoredLists() { shop_.sell({"bread", "pay"}); }

  providers::UpstreamSettings open() const {
    auto settings = upstream_at("shop", 1);
    settings.url = shop_.url().text();
    settings.prefix = "";
    return settings;
  }
  providers::UpstreamSettings limited() const {
    auto settings = open();
    settings.tools = {{.match = {"pay"}, .hidden = true}};
    return settings;
  }
  // Has another process read the upstream and store its lists.
  void store_lists() {
    TestGateway gateway({open()}, {.store = &store_});
    wait_until([&] { return gateway.run(store_.kept.snapshots()).value().size() == catalog::kKinds.size(); });
  }

  Shop shop_{mcp::Era::modern};
  StoreWithoutLists store_;
};

// SHP-01: what new settings hide must not depend on the store.
TEST_F(StoredLists, AreShownByTheirNewSettingsThoughNothingCanBeRead) {
  TestGateway gateway({open()}, {.store = &store_});
  gateway.discover();
  ASSERT_THAT(gateway.tools(), ElementsAre("bread", "pay"));
  store_.away = true;
  shop_.close();
  ASSERT_TRUE(gateway.set({limited()}));
  EXPECT_THAT(gateway.tools(), ElementsAre("bread"));
  EXPECT_TRUE(gateway.call("pay").as_object().contains("error"));
  EXPECT_EQ(shop_.calls(), 0U);

  // This instance has not been told what the server is like, so the next one knows nothing.
  ASSERT_TRUE(gateway.set({open()}));
  EXPECT_THAT(gateway.tools(), IsEmpty());
  shop_.close(false);
  wait_until([&] { return gateway.tools().size() == 2; });
}

// REF-03
TEST_F(StoredLists, AreRestoredAsSoonAsTheStoreCanBeRead) {
  store_lists();
  shop_.close();
  store_.away = true;
  TestGateway gateway({limited()}, {.store = &store_});
  EXPECT_THAT(gateway.tools(), IsEmpty());
  store_.away = false;
  wait_until([&] {
    gateway.gateway.drop_unused_since({});
    return !gateway.tools().empty();
  });
  EXPECT_THAT(gateway.tools(), ElementsAre("bread"));
}

// Another process reads the upstream, and stores its lists.
class ListedElsewhere : public StoredLists {
 protected:
  ListedElsewhere() {
    store_lists();
    gateway_.emplace(std::vector<providers::UpstreamSettings>{},
                     TestGateway::Setup{.store = &store_, .leases = &leases_});
    store::Writes writes;
    writes.emplace_back(store::Attend{{.name = "other", .facts = "{}", .applied = 0, .unseen = {}}});
    writes.emplace_back(store::TakeLeases{"other", {"upstream shop"}, 1h});
    gateway_->run(store_.kept.write(std::move(writes))).value();
    gateway_->set({open()}).value();
  }
  void store_elsewhere(std::string tools) {
    auto records = gateway_->run(store_.kept.snapshots_of("shop")).value();
    const auto record = std::ranges::find(records, "tools", &store::SnapshotRecord::kind);
    record->entries = std::move(tools);
    store::Writes writes;
    writes.emplace_back(store::PutSnapshot{.record = *record});
    gateway_->run(store_.kept.write(std::move(writes))).value();
  }

  boost::asio::io_context unused_;
  SystemClock clock_;
  cluster::Member member_{unused_, store_, clock_, {.name = "this", .facts = "{}", .patience = 1h}};
  cluster::Leases leases_{unused_, store_, member_};
  std::optional<TestGateway> gateway_;
};

// REP-05
TEST_F(ListedElsewhere, AreFollowedAgainAsSoonAsTheStoreCanBeRead) {
  TestGateway& gateway = *gateway_;
  ASSERT_THAT(gateway.tools(), ElementsAre("bread", "pay"));
  ASSERT_EQ(gateway.status("shop").watch, client::Watch::elsewhere);
  store_.away = true;
  ASSERT_TRUE(gateway.set({limited()}));
  EXPECT_THAT(gateway.tools(), ElementsAre("bread"));
  store_elsewhere(
      R"([{"name":"cake","inputSchema":{"type":"object"}},{"name":"pay","inputSchema":{"type":"object"}}])");
  store_.away = false;
  wait_until([&] {
    gateway.gateway.drop_unused_since({});
    return gateway.tools() != std::vector<std::string>{"bread"};
  });
  EXPECT_THAT(gateway.tools(), ElementsAre("cake"));
}

// REP-02, REP-05
TEST_F(ListedElsewhere, AreTheSameHereThoughAClientFollowsAResource) {
  shop_.sell({"milk"});
  gateway_->upstream("shop")->follow({"test://till"});
  wait_until([&] { return !gateway_->refreshes().empty(); });
  EXPECT_THAT(gateway_->tools(), ElementsAre("bread", "pay")) << "the other process has not read anything new";
  store_elsewhere(R"([{"name":"cake","inputSchema":{"type":"object"}}])");
  ASSERT_TRUE(gateway_->run(gateway_->gateway.follow_lists("shop")));
  EXPECT_THAT(gateway_->tools(), ElementsAre("cake"));
}

}  // namespace
}  // namespace proteus::gateway
