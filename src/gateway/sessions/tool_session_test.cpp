#include "gateway/sessions/tool_session.hpp"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/testing/test_run.hpp"
#include "gateway/sessions/own_changes.hpp"
#include "gateway/sessions/tool_session_table.hpp"
#include "gateway/sessions/tool_sets.hpp"
#include "providers/http_tool/http_tool_reader.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;

class ToolSessionParts : public testing::Test {
 protected:
  std::shared_ptr<ToolSession> session(std::string id) {
    auto made = std::make_shared<ToolSession>(ToolSessionId(std::move(id)), store::Time(), calls_);
    made->touch(clock_.now());
    return made;
  }
  static std::shared_ptr<const Principal> principal(const std::shared_ptr<ToolSession>& of) {
    return std::make_shared<const Principal>(Principal::Parts{
        .name = of->name().value(),
        .permissions = std::make_shared<const Permissions>(catalog::Access::all(), std::vector<std::string>{"*"}),
        .key = of->key(),
        .own = of});
  }
  ToolSessionEntry put(ToolSessionTable& table, std::string id, std::string_view token) {
    const auto made = session(std::move(id));
    const ToolSessionEntry entry{made, principal(made)};
    table.put(entry, bound(token));
    return entry;
  }
  static std::shared_ptr<const SessionBinding> bound(std::string_view token) {
    auto binding = std::make_shared<SessionBinding>();
    binding->token = json::sha256(token);
    return binding;
  }
  ToolOfSet tool(std::string_view name, int fixed = 1) {
    const std::string text =
        fmt::format(R"({{"name":"{}","description":"d","url":"http://example.com/","inputSchema":{{"type":"object"}},)"
                    R"("fixed_params":{{"n":{}}}}})",
                    name, fixed);
    auto read = providers::read_http_tool(text, schemas_, {});
    auto& made = std::get<providers::ReadTool>(read);
    return {made.tool, made.definition};
  }

  ManualClock clock_;
  net::Workers workers_{1};
  ToolClients clients_{workers_, clock_, {}};
  Confirmations confirmations_{clock_};
  BackgroundThreads checks_{1};
  SessionCalls calls_{clients_, clock_, confirmations_, checks_, {}};
  providers::SharedSchemas schemas_;
};

// SES-02, SES-17
TEST_F(ToolSessionParts, AreFoundByTokenUntilTheyWereIdleForTooLong) {
  ToolSessionTable table(clock_, 30min);
  put(table, "a", "tok_a");
  const auto b = put(table, "b", "tok_b");
  EXPECT_EQ(table.size(), 2U);
  clock_.advance(29min);
  EXPECT_EQ(table.find(json::sha256("tok_b")), b.principal);
  EXPECT_EQ(table.find(json::sha256("tok_c")), nullptr);
  clock_.advance(1min);
  EXPECT_EQ(table.find(json::sha256("tok_a")), nullptr);
  EXPECT_EQ(table.find(json::sha256("tok_b")), b.principal);
  EXPECT_TRUE(table.find(ToolSessionId("a")));
}

TEST_F(ToolSessionParts, HaveOneTokenAtATime) {
  ToolSessionTable table(clock_, 30min);
  const auto entry = put(table, "a", "old");
  table.put(entry, bound("new"));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(json::sha256("old")), nullptr);
  EXPECT_EQ(table.find(json::sha256("new")), entry.principal);
  table.remove(*entry.session);
  table.remove(*entry.session);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.find(json::sha256("new")), nullptr);
  EXPECT_FALSE(table.find(ToolSessionId("a")));
}

TEST_F(ToolSessionParts, ShareWhatClientsSeeOfTheSameTools) {
  ToolSets sets;
  const auto list = [](const ToolSet& set) { return set.snapshot->lists()[catalog::Kind::tool]; };
  const auto a = sets.make(catalog::UpstreamName("a"), {tool("x", 1), tool("y", 1)}).value();
  const auto b = sets.make(catalog::UpstreamName("b"), {tool("y", 2), tool("x", 2)}).value();
  EXPECT_EQ(list(*a), list(*b));
  EXPECT_NE(a->snapshot->version(), b->snapshot->version());
  EXPECT_EQ(a->find("y")->tail, R"("n":1)");
  EXPECT_EQ(b->find("y")->tail, R"("n":2)");
  const auto less = sets.make(catalog::UpstreamName("a"), without(*a, "x")).value();
  EXPECT_EQ(less->find("x"), nullptr);
  EXPECT_EQ(less->tools.size(), 1U);
  const auto more = sets.make(catalog::UpstreamName("a"), with(*a, {tool("y", 3), tool("z")})).value();
  EXPECT_EQ(more->tools.size(), 3U);
  EXPECT_EQ(more->find("y")->tail, R"("n":3)");
  EXPECT_EQ(sets.make(catalog::UpstreamName("a"), {}).value()->snapshot, nullptr);
}

class CountingListener final : public server::Listener {
 public:
  explicit CountingListener(std::shared_ptr<const Principal> principal) {
    caller_->principal = principal->key();
    caller_->grant = std::move(principal);
  }
  std::shared_ptr<const server::Caller> caller() const override { return caller_; }
  void list_changed(mcp::Method) override { ++told; }
  void resource_updated(std::string_view) override {}
  void end() override {}

  int told = 0;

 private:
  const std::shared_ptr<server::Caller> caller_ = std::make_shared<server::Caller>();
};

// SES-20
TEST_F(ToolSessionParts, TellTheirOwnClientsOncePerWindow) {
  boost::asio::io_context io(1);
  server::Listeners listeners;
  const auto a = session("a");
  const auto b = session("b");
  CountingListener of_a(principal(a));
  CountingListener of_b(principal(b));
  const auto first = listeners.add(of_a);
  const auto second = listeners.add(of_b);
  {
    OwnChanges changes(io, listeners, 1h);
    changes.changed(a);
    EXPECT_EQ(of_a.told, 1) << "at once";
    changes.changed(a);
    proteus::test::settle(io);
    EXPECT_EQ(of_a.told, 1) << "not again within the window";
    changes.changed_for_the_last_time(*a);
    EXPECT_EQ(of_a.told, 2);
    changes.stop();
    proteus::test::settle(io);
  }
  EXPECT_EQ(of_b.told, 0);
  OwnChanges changes(io, listeners, 1ms);
  changes.changed(b);
  changes.changed(b);
  changes.changed(b);
  proteus::test::run_until(io, [&] { return of_b.told == 2; });
  changes.stop();
  proteus::test::settle(io);
  EXPECT_EQ(of_b.told, 2);
  EXPECT_EQ(of_a.told, 2);
}

}  // namespace
}  // namespace proteus::gateway
