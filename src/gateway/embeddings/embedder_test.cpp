#include "gateway/embeddings/embedder.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "base/waiting.hpp"
#include "net/testing/http_test_server.hpp"
#include "search/testing/searching.hpp"
#include "store/memory_store.hpp"

namespace proteus::gateway {
namespace {

using search::testing::tool;
using search::testing::upstream;
using test::run;
using test::run_until;
using ::testing::HasSubstr;

// An endpoint whose vectors say whether a text is about mail.
class FakeEmbeddings {
 public:
  FakeEmbeddings() : server_([this](net::Exchange& exchange) { return serve(exchange); }) {}

  net::Url url() const {
    return net::Url::parse(fmt::format("http://127.0.0.1:{}/v1/embeddings", server_.port())).value();
  }
  // Instead of that; empty for that.
  void answer(std::string text, unsigned status = 200) {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(text);
    status_ = status;
  }
  void hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
  }
  std::size_t texts() const {
    const std::scoped_lock lock(mutex_);
    return texts_;
  }
  std::string authorization() const {
    const std::scoped_lock lock(mutex_);
    return authorization_;
  }

 private:
  std::string take(const net::Request& request) {
    const std::scoped_lock lock(mutex_);
    authorization_ = std::string(request.fields().find("Authorization").value_or(""));
    if (!answer_.empty()) return answer_;
    const auto asked = boost::json::parse(request.body());
    boost::json::array data;
    for (const auto& text : asked.at("input").as_array()) {
      const bool mail = std::string_view(text.as_string()).find("mail") != std::string_view::npos;
      data.push_back({{"index", data.size()}, {"embedding", boost::json::array{mail ? 1.0 : 0.1, mail ? 0.1 : 1.0}}});
      ++texts_;
    }
    return boost::json::serialize(boost::json::object{{"data", data}});
  }
  Task<> serve(net::Exchange& exchange) {
    const std::string text = take(exchange.request());
    if (held_) {
      Bell gone(exchange.executor());
      exchange.on_disconnect([&] { gone.ring(); });
      co_await gone.wait_quietly();
      co_return;
    }
    co_await exchange.reply({.status = status_, .content_type = "application/json"}, text);
  }

  mutable std::mutex mutex_;
  std::string answer_;
  unsigned status_ = 200;
  bool held_ = false;
  std::size_t texts_ = 0;
  std::string authorization_;
  net::TestServer server_;
};

// SRC-08
class EmbedderTest : public ::testing::Test {
 protected:
  void TearDown() override {
    end();
    http_ = nullptr;
  }
  void begin(std::string model = "m") {
    end();
    embedder_ = std::make_unique<Embedder>(io_.get_executor(), *http_, store_, clock_,
                                           EmbedderSettings{endpoint_.url(), std::move(model), Secret("key")});
  }
  void end() {
    if (embedder_) run(io_, embedder_->close());
    embedder_ = nullptr;
  }
  // Waits until all is known.
  Embedder::Vectors vectors_of(const catalog::SnapshotPointer& snapshot) {
    Embedder::Vectors found;
    run_until(io_, [&] { return (found = embedder_->find(*snapshot)) != nullptr; });
    return found;
  }
  std::optional<search::Vector> query(std::string text) { return run(io_, embedder_->of_query(std::move(text))); }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  FakeEmbeddings endpoint_;
  store::MemoryStore store_;
  std::unique_ptr<net::HttpClient> http_ = std::make_unique<net::HttpClient>(io_, clock_);
  std::unique_ptr<Embedder> embedder_;
  catalog::SnapshotPointer two_ = upstream("u", {tool("post_letter", "Sends a mail."), tool("read_file", "Reads.")});
};

TEST_F(EmbedderTest, AsksAboutToolsAsideAndAboutQueriesAtOnce) {
  begin();
  EXPECT_EQ(embedder_->find(*two_), nullptr) << "nobody waits for it";
  const auto vectors = vectors_of(two_);
  ASSERT_EQ(vectors->size(), 2U);
  const auto asked = query("send a mail");
  ASSERT_TRUE(asked);
  EXPECT_GT(asked->likeness(*(*vectors)[0]), 0.9F);
  EXPECT_LT(asked->likeness(*(*vectors)[1]), 0.5F);
  EXPECT_EQ(endpoint_.authorization(), "Bearer key");
  EXPECT_EQ(embedder_->fault(), "");
}

TEST_F(EmbedderTest, AsksAboutNothingTwice) {
  begin();
  vectors_of(two_);
  run_until(io_, [&] { return run(io_, store_.setting("search.embeddings.u")).value().has_value(); });
  EXPECT_EQ(endpoint_.texts(), 2U);
  begin();
  const auto more =
      upstream("u", {tool("post_letter", "Sends a mail."), tool("read_file", "Reads."), tool("new")}, "", 2);
  EXPECT_EQ(vectors_of(more)->size(), 3U);
  EXPECT_EQ(endpoint_.texts(), 3U) << "after a restart only the one that is new";
  begin("another");
  vectors_of(two_);
  EXPECT_EQ(endpoint_.texts(), 5U) << "another model means something else";
}

TEST_F(EmbedderTest, SaysWhatIsWrongAndLeavesSearchAlone) {
  begin();
  endpoint_.answer("{}", 500);
  EXPECT_FALSE(query("x"));
  EXPECT_THAT(embedder_->fault(), HasSubstr("answered 500"));
  endpoint_.answer(R"({"data":[{"embedding":[0,0]}]})");
  EXPECT_FALSE(query("x")) << "not asked again so soon";
  EXPECT_THAT(embedder_->fault(), HasSubstr("answered 500"));
  clock_.advance(Embedder::kFirstPause);
  EXPECT_FALSE(query("x"));
  EXPECT_THAT(embedder_->fault(), HasSubstr("only zeros"));
}

TEST_F(EmbedderTest, DoesNotWaitForAnEndpointThatIsSlow) {
  begin();
  endpoint_.hold();
  EXPECT_FALSE(query("x"));
}

TEST_F(EmbedderTest, RefusesVectorsOfAnotherSize) {
  begin();
  vectors_of(two_);
  endpoint_.answer(R"({"data":[{"embedding":[1,2,3]}]})");
  EXPECT_FALSE(query("x"));
  EXPECT_THAT(embedder_->fault(), HasSubstr("3 components where others have 2"));
}

}  // namespace
}  // namespace proteus::gateway
