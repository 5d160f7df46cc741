#include "net/http_client/name_lookup.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Knows every name, but answers for silent ones only after `go_on`.
class Names {
 public:
  explicit Names(std::set<std::string> silent = {}) : state_(std::make_shared<State>(std::move(silent))) {}
  ~Names() { go_on(); }

  NameLookup::Ask ask() {
    return [state = state_](const std::string& name) {
      const bool waits = state->silent.contains(name);
      {
        const std::scoped_lock lock(state->mutex);
        state->asked.push_back(name);
      }
      if (waits) state->answered.wait(false);
      return FoundName{{}, {boost::asio::ip::address_v4::loopback()}};
    };
  }
  std::vector<std::string> asked() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->asked;
  }
  void wait_for(std::size_t count) const {
    while (asked().size() < count)
      std::this_thread::yield();
  }
  void go_on() {
    state_->answered = true;
    state_->answered.notify_all();
  }

 private:
  // Shared, because lookup threads may outlive the test.
  struct State {
    explicit State(std::set<std::string> names) : silent(std::move(names)) {}
    const std::set<std::string> silent;
    std::mutex mutex;
    std::vector<std::string> asked;
    std::atomic<bool> answered = false;
  };
  const std::shared_ptr<State> state_;
};

class NameLookupTest : public HttpClientTest {
 protected:
  void look_up_by(Names& names, NameLookupLimits limits = {}) {
    use({.names = std::make_shared<NameLookup>(names.ask(), limits)});
  }
  Url url(std::string_view host) const { return server_->url("/", fmt::format("http://{}", host)); }
};

TEST_F(NameLookupTest, ANameThatNobodyAnswersForHoldsUpNoOther) {
  Names names({"dead.test"});
  look_up_by(names);
  serve({{receive(), send(kHello)}});
  Started dead(*io_, test::fetch(*client_, {.url = url("dead.test")}));
  settle(*io_);
  names.wait_for(1);
  EXPECT_EQ(get(url("live.test")).body, "hello");
  EXPECT_FALSE(dead.is_done());
  dead.cancel();
  EXPECT_EQ(dead.finish().kind, ErrorKind::cancelled);
  names.go_on();
  client_ = nullptr;
}

TEST_F(NameLookupTest, WhoAsksForTheSameNameSharesTheAnswer) {
  Names names({"slow.test"});
  look_up_by(names);
  serve({{receive(), send(kHello)}, {receive(), send(kHello)}});
  Started first(*io_, test::fetch(*client_, {.url = url("slow.test")}));
  Started second(*io_, test::fetch(*client_, {.url = url("slow.test")}));
  settle(*io_);
  names.go_on();
  EXPECT_EQ(first.finish().body, "hello");
  EXPECT_EQ(second.finish().body, "hello");
  EXPECT_THAT(names.asked(), ElementsAre("slow.test"));
  client_ = nullptr;
}

TEST_F(NameLookupTest, AddressesNeedNone) {
  Names names;
  look_up_by(names);
  serve({{receive(), send(kHello)}, {receive(), send(kHello)}});
  EXPECT_EQ(get(url("127.0.0.1")).body, "hello");
  EXPECT_EQ(get(url("localhost")).body, "hello");
  EXPECT_THAT(names.asked(), IsEmpty());
}

TEST_F(NameLookupTest, TheTimeIsUpOrTheCallAbortedMeanwhile) {
  Names names({"dead.test"});
  look_up_by(names);
  serve({});
  RequestAbort abort;
  Started aborted(*io_, test::fetch(*client_, {.url = url("dead.test"), .abort = &abort}));
  Started late(*io_, test::fetch(*client_, {.url = url("dead.test"), .deadlines = {.connect = 2s}}));
  settle(*io_);
  abort();
  EXPECT_EQ(aborted.finish().kind, ErrorKind::cancelled);
  pass(2s);
  EXPECT_EQ(late.finish().kind, ErrorKind::unreachable);
  names.go_on();
  client_ = nullptr;
  settle(*io_);
  EXPECT_EQ(server_->connections, 0U);
}

TEST_F(NameLookupTest, EverythingEndsWhileANameIsLookedUp) {
  Names names({"dead.test"});
  auto lookup = std::make_shared<NameLookup>(names.ask());
  use({.names = lookup});
  auto waiting =
      std::make_unique<Started<Answer>>(*io_, test::fetch(*client_, {.url = Url::parse("http://dead.test/").value()}));
  settle(*io_);
  names.wait_for(1);
  client_ = nullptr;
  io_ = nullptr;     // destroys the waiting coroutine
  lookup = nullptr;  // does not wait for the thread, which cannot be stopped
}

TEST(NameLookup, RefusesMoreNamesThanItsLimitAndForgetsThoseNobodyWaitsFor) {
  Names names({"a.test", "b.test", "c.test"});
  const auto lookup = std::make_shared<NameLookup>(names.ask(), NameLookupLimits{.threads = 1, .names = 2});
  const auto ignore = [](const FoundName&) {};
  auto first = lookup->find("a.test", ignore);
  names.wait_for(1);
  {
    const auto second = lookup->find("b.test", ignore);
    ASSERT_TRUE(second);
    EXPECT_EQ(lookup->find("c.test", ignore).error().kind(), ErrorKind::unreachable);
  }
  std::promise<FoundName> found;
  const auto third = lookup->find("c.test", [&](const FoundName& answer) { found.set_value(answer); });
  ASSERT_TRUE(third);
  names.go_on();
  EXPECT_THAT(found.get_future().get().addresses, ElementsAre(boost::asio::ip::address_v4::loopback()));
  EXPECT_THAT(names.asked(), ElementsAre("a.test", "c.test"));
}

}  // namespace
}  // namespace proteus::net::test
