// SRC-08, SRC-10: ranking by meaning, with endpoints that misbehave.
#include <gmock/gmock.h>

#include "gateway/testing/search_fixture.hpp"
#include "net/testing/http_test_server.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// An endpoint with a simple model: each known word is a direction.
class FakeModel {
 public:
  enum class Mood : std::uint8_t {
    good,
    silent,
    wrong_count,
    other_size,
    not_a_number,
    refusing,
    choosy,  // does not take texts about bricks
    narrow,  // takes no text
  };

  FakeModel() : server_([this](net::Exchange& exchange) { return handle(exchange); }) {}

  std::string url() const { return fmt::format("http://127.0.0.1:{}/v1/embeddings", server_.port()); }
  void set(Mood mood) { mood_ = mood; }
  std::vector<std::string> texts() {
    const std::scoped_lock lock(mutex_);
    return texts_;
  }
  std::size_t requests() { return tokens().size(); }
  std::vector<std::string> tokens() {
    const std::scoped_lock lock(mutex_);
    return tokens_;
  }

 private:
  static std::string vector_of(std::string_view text) {
    const bool animal = text.contains("feline") || text.contains("cat");
    return animal ? "[1,0.1,0]" : "[0,0.1,1]";
  }

  Task<> handle(net::Exchange& exchange) {
    const auto body = boost::json::parse(exchange.request().body());
    std::string data;
    {
      const std::scoped_lock lock(mutex_);
      tokens_.emplace_back(exchange.request().fields().find("Authorization").value_or(""));
      for (const auto& text : body.at("input").as_array()) {
        texts_.emplace_back(text.as_string());
        const std::string vector = mood_ == Mood::not_a_number ? R"(["x",null,1])"
                                   : mood_ == Mood::other_size ? "[1,2,3,4,5]"
                                                               : vector_of(texts_.back());
        data += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})", data.empty() ? "" : ",",
                            data.empty() ? 0 : std::ranges::count(data, '{'), vector);
      }
    }
    if (mood_ == Mood::wrong_count) data.clear();
    const bool is_about_bricks = exchange.request().body().contains("bricks");
    if (mood_ == Mood::narrow || (mood_ == Mood::choosy && is_about_bricks)) {
      co_await exchange.reply({.status = 400}, "{}");
    } else if (mood_ == Mood::refusing) {
      co_await exchange.reply({.status = 500}, "{}");
    } else if (mood_ == Mood::silent) {
      // Sends no answer; the connection ends.
    } else {
      co_await exchange.reply({.status = 200, .content_type = "application/json"},
                              fmt::format(R"({{"object":"list","data":[{}]}})", data));
    }
  }

  std::atomic<Mood> mood_ = Mood::good;
  std::mutex mutex_;
  std::vector<std::string> texts_;
  std::vector<std::string> tokens_;
  net::TestServer server_;
};

// A gateway whose search uses an endpoint.
class EmbeddedSearch : public ::testing::Test {
 protected:
  EmbeddedSearch() {
    upstream.add("stroke_cat", "Pets a small animal.");
    upstream.add("order_bricks", "Buys building material.");
  }
  ~EmbeddedSearch() override { stop(); }

  void start(std::optional<EmbeddingEndpoint> endpoint) {
    auto setup = searching();
    setup.store = &store;
    setup.locals = [&](Gateway& made) {
      tools = std::make_shared<SearchTools>(made);
      embeddings = std::make_unique<Embeddings>(
          Embeddings::Dependencies{.control = made.control(),
                                   .clock = made.clock(),
                                   .store = store,
                                   .background = made.background_threads(),
                                   .http = {},
                                   .lasts = [](const catalog::UpstreamName&) { return true; },
                                   .patience = kPatience / 2});
      embeddings->set(std::move(endpoint));
      tools->search().set_embeddings(*embeddings);
      return Locals{tools};
    };
    gateway = std::make_unique<TestGateway>(std::vector{upstream_at("up", upstream.port)}, std::move(setup));
    gateway->discover();
  }
  // Must run on the control thread.
  static Task<bool> ended(std::unique_ptr<Embeddings>& which) {
    co_await which->stop();
    which.reset();
    co_return true;
  }
  void stop() {
    if (!gateway) return;
    gateway->run(ended(embeddings));
    gateway.reset();
    tools.reset();
  }
  std::vector<std::string> search(std::string_view query) {
    return found_by(gateway->call("search_tools", fmt::format(R"({{"query":"{}"}})", query), bearer("agent")));
  }
  // A word that is in no definition.
  static constexpr std::string_view kMeant = "feline";

  Upstream upstream{{}};
  FakeModel model;
  store::MemoryStore store{{}};
  std::shared_ptr<SearchTools> tools;
  std::unique_ptr<Embeddings> embeddings;
  std::unique_ptr<TestGateway> gateway;
};

// SRC-10
TEST_F(EmbeddedSearch, SendsNothingAnywhereWithoutAnEndpoint) {
  start(std::nullopt);
  EXPECT_THAT(search(kMeant), IsEmpty());
  EXPECT_THAT(search("cat"), ElementsAre("up_stroke_cat"));
  EXPECT_THAT(model.texts(), IsEmpty());
}

// SRC-08
TEST_F(EmbeddedSearch, FindsByMeaningOnceVectorsAreThere) {
  start(EmbeddingEndpoint{model.url(), "m", Secret("its-token")});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  EXPECT_EQ(search(kMeant).front(), "up_stroke_cat");
  EXPECT_THAT(model.tokens(), Contains("Bearer its-token"));
}

// SRC-08: vectors are cached by content, also for another process.
TEST_F(EmbeddedSearch, SendsEachDefinitionOnce) {
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  stop();
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  EXPECT_EQ(search(kMeant).front(), "up_stroke_cat");
  const auto sent = model.texts();
  EXPECT_EQ(std::ranges::count_if(sent, [](const auto& text) { return text.contains("Pets a small animal"); }), 1);
}

// SRC-08: if the endpoint is down or wrong, the status says so.
TEST_F(EmbeddedSearch, WorksAsWithoutItWhereTheEndpointIsOfNoUse) {
  for (const auto mood : {FakeModel::Mood::silent, FakeModel::Mood::wrong_count, FakeModel::Mood::not_a_number,
                          FakeModel::Mood::refusing, FakeModel::Mood::narrow}) {
    model.set(mood);
    start(EmbeddingEndpoint{model.url(), fmt::format("m{}", static_cast<int>(mood))});
    EXPECT_THAT(search("cat"), ElementsAre("up_stroke_cat"));
    wait_until([&] { return embeddings->status().failures > 0; });
    EXPECT_FALSE(embeddings->status().fault.empty());
    EXPECT_THAT(search("cat"), ElementsAre("up_stroke_cat"));
    stop();
  }
}

// SRC-08: vectors of another size come from another model and are not compared.
TEST_F(EmbeddedSearch, IsNotMisledByOtherDimensions) {
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  model.set(FakeModel::Mood::other_size);
  EXPECT_THAT(search("cat"), ElementsAre("up_stroke_cat"));
  EXPECT_FALSE(embeddings->status().fault.empty());
}

// SRC-08: a text that the endpoint does not take costs only its tool, and is not sent again.
TEST_F(EmbeddedSearch, IsByMeaningAlthoughOneTextIsNotTaken) {
  upstream.add("walk_dog", "Pets a large animal.");
  model.set(FakeModel::Mood::choosy);
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  EXPECT_EQ(embeddings->status().failures, 0U);
  EXPECT_EQ(search(kMeant).front(), "up_stroke_cat");
  EXPECT_THAT(search("bricks"), Contains("up_order_bricks"));
  const std::size_t asked = model.requests();
  EXPECT_EQ(search(kMeant).front(), "up_stroke_cat");
  EXPECT_EQ(model.requests(), asked);
}

// SRC-08: an upstream with many such tools, one after the other, does not end ranking by meaning for all others.
TEST_F(EmbeddedSearch, IsByMeaningHoweverManyTextsAreNotTaken) {
  for (int i = 0; i < 20; ++i)
    upstream.add(fmt::format("order_bricks_{}", i), "Buys building material.");
  upstream.add("walk_dog", "Pets a large animal.");
  model.set(FakeModel::Mood::choosy);
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  EXPECT_EQ(embeddings->status().failures, 0U);
  EXPECT_EQ(search(kMeant).front(), "up_stroke_cat");
  const std::size_t asked = model.requests();
  EXPECT_EQ(search(kMeant).front(), "up_stroke_cat");
  EXPECT_EQ(model.requests(), asked);
}

// SRC-08: a query that the endpoint does not take costs the others nothing.
TEST_F(EmbeddedSearch, IsByMeaningAlthoughOneQueryIsNotTaken) {
  model.set(FakeModel::Mood::choosy);
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 1; });
  const auto found = found_by(gateway->call("search_tools", R"({"queries":["feline one","bricks"]})", bearer("agent")));
  EXPECT_THAT(found, Contains("up_stroke_cat"));
}

// SRC-08
TEST_F(EmbeddedSearch, SendsAllQueriesOfASearchAtOnce) {
  start(EmbeddingEndpoint{model.url(), "m"});
  (void)search(kMeant);
  wait_until([&] { return embeddings->status().tools == 2; });
  const std::size_t asked = model.requests();
  const auto found =
      found_by(gateway->call("search_tools", R"({"queries":["feline one","feline two","wall"]})", bearer("agent")));
  EXPECT_THAT(found, Contains("up_stroke_cat"));
  EXPECT_THAT(found, Contains("up_order_bricks"));
  EXPECT_EQ(model.requests(), asked + 1);
}

}  // namespace
}  // namespace proteus::gateway
