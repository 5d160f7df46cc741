#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using test::Reaction;
using test::ScriptedUpstream;
using test::small_lists;
using test::TestGateway;
using test::upstream_at;
using test::wait_until;
using namespace std::chrono_literals;

// An upstream whose lists have a time to live, and are read again on use.
class OnUse : public ::testing::Test {
 protected:
  Reaction react(const boost::json::object& message) {
    if (message.at("method") == "tools/list") {
      Reaction list(test::one_tool(fmt::format("tool{}", number.load())));
      list.gate = &open;
      return list;
    }
    if (auto list = small_lists(message)) return *list;
    return std::string(R"({"resultType":"complete","content":[]})");
  }
  providers::UpstreamSettings settings() {
    auto made = upstream_at("up", upstream.port());
    made.ttl = 300ms;
    return made;
  }
  std::size_t readings() { return upstream.received("tools/list").size(); }
  void wait_until_expired(TestGateway& gateway) {
    wait_until([&] { return gateway.upstream("up")->is_expired(); });
  }

  std::atomic<int> number = 1;
  std::atomic<bool> open = true;
  ScriptedUpstream upstream{[this](const boost::json::object& message) { return react(message); }};
};

// REF-17, REF-30
TEST_F(OnUse, AnyNumberOfUsesAtOnceCostOneReading) {
  auto slow = settings();
  slow.ttl = 2s;  // so that all uses come before the next expiry
  TestGateway gateway({slow});
  gateway.discover();
  wait_until_expired(gateway);
  const auto before = readings();
  open = false;
  std::vector<std::future<void>> uses;
  uses.push_back(gateway.begin(gateway.upstream("up")->freshen()));
  wait_until([&] { return readings() == before + 1; });
  for (int i = 0; i < 3; ++i)  // while the reading is under way
    uses.push_back(gateway.begin(gateway.upstream("up")->freshen()));
  open = true;
  for (auto& use : uses)
    use.get();
  EXPECT_EQ(readings(), before + 1);
}

// REF-30
TEST_F(OnUse, ANewNameIsLookedForBeforeItIsRefused) {
  TestGateway gateway({settings()});
  gateway.discover();
  number = 2;
  wait_until_expired(gateway);
  EXPECT_TRUE(gateway.call("up_tool2").as_object().contains("result"));
  const auto before = readings();
  EXPECT_EQ(gateway.call("up_tool3").at("error").at("code"), -32602);
  wait_until_expired(gateway);
  EXPECT_EQ(gateway.call("up_tool3").at("error").at("code"), -32602);
  EXPECT_LE(readings(), before + 2) << "one for each time that it was too old";
}

}  // namespace
}  // namespace proteus::gateway
