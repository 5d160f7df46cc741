// SRC-08: answers of an embedding endpoint are checked before they count.
#include "search/vectors.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/embeddings.hpp"
#include "search/testing/searching.hpp"

namespace proteus::search::testing {
namespace {

using ::testing::HasSubstr;

VectorPointer pointer(std::vector<float> components) {
  return std::make_shared<const Vector>(Vector::of(components).value());
}

std::string refused(std::string_view answer, std::size_t texts = 1, std::size_t components = 0) {
  const auto read = read_embeddings(answer, texts, components);
  return read ? "" : read.error().message();
}

TEST(Vectors, AreAlikeByTheirDirection) {
  const auto a = pointer({1, 0});
  EXPECT_NEAR(a->likeness(*pointer({100, 0})), 1, 0.01);
  EXPECT_NEAR(a->likeness(*pointer({0, 3})), 0, 0.01);
  EXPECT_NEAR(a->likeness(*pointer({-1, 0})), -1, 0.01);
  EXPECT_NEAR(a->likeness(*pointer({1, 1})), std::sqrt(0.5F), 0.01);
  EXPECT_EQ(a->likeness(*pointer({1, 0, 0})), 0) << "of another model";
}

TEST(Vectors, AreKeptAsBytes) {
  const auto a = pointer({0.5F, -0.25F, 0.1F});
  const auto read = Vector::from_bytes(a->bytes());
  ASSERT_TRUE(read);
  EXPECT_FLOAT_EQ(read->likeness(*a), 1);
  EXPECT_FALSE(Vector::from_bytes(""));
  EXPECT_FALSE(Vector::from_bytes(std::string(3, '\0')));
  EXPECT_FALSE(Vector::from_bytes(std::string(100'000, 'x')));
}

TEST(Vectors, RankWhatIsVisibleAndHasOne) {
  const std::vector<VectorPointer> first = {pointer({1, 0}), nullptr, pointer({0.9F, 0.1F})};
  const std::vector<VectorPointer> second = {pointer({0, 1}), pointer({1, 1})};
  const std::vector<std::uint32_t> lost = {0};
  const std::vector<VisibleVectors> parts = {{first, lost}, {second, {}}};
  const auto hits = rank(parts, *pointer({1, 0}), 10);
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].part, 0U);
  EXPECT_EQ(hits[0].position, 2U);
  EXPECT_EQ(hits[1].part, 1U);
  EXPECT_EQ(hits[1].position, 1U);
}

TEST(Vectors, AreFusedWithWordsByRank) {
  const std::vector<std::vector<Hit>> rankings = {{{0, 1, 9.0F}, {0, 2, 1.0F}}, {{0, 2, 0.9F}, {0, 3, 0.8F}}};
  const auto fused = fuse(rankings, 10, 10);
  ASSERT_EQ(fused.size(), 3U);
  EXPECT_EQ(fused.front().position, 2U) << "both found it";
}

TEST(Embeddings, AreAskedForInTheUsualForm) {
  const std::vector<std::string> texts = {"one", "a \"b\""};
  EXPECT_EQ(embeddings_request("m", texts), R"({"model":"m","input":["one","a \"b\""]})");
}

// SRC-08
TEST(Embeddings, AreReadByTheirIndex) {
  const auto read = read_embeddings(
      R"({"object":"list","data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}],"usage":{}})", 2);
  ASSERT_TRUE(read);
  EXPECT_NEAR(read->front().likeness(*pointer({1, 0})), 1, 0.01);
}

// SRC-08
TEST(Embeddings, AreRefusedWhereTheyAreWrong) {
  EXPECT_THAT(refused(""), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refused("[]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refused("{}"), HasSubstr("has no list of embeddings"));
  EXPECT_THAT(refused(R"({"data":[]})"), HasSubstr("has 0 embeddings for 1 texts"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":[]}]})"), HasSubstr("no components"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":[0,0]}]})"), HasSubstr("only zeros"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":[1,null]}]})"), HasSubstr("no components"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":[1e99]}]})"), HasSubstr("no number"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":"AAAA"}]})"), HasSubstr("is not a list"));
  EXPECT_THAT(refused(R"({"data":[{"index":7,"embedding":[1]}]})"), HasSubstr("of no text"));
  EXPECT_THAT(refused(R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})", 2), HasSubstr("two"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":[1]},{"embedding":[1,2]}]})", 2), HasSubstr("2 components"));
  EXPECT_THAT(refused(R"({"data":[{"embedding":[1,2]}]})", 1, 3), HasSubstr("where others have 3"));
  EXPECT_FALSE(Vector::of(std::array{1.0F, std::numeric_limits<float>::quiet_NaN()}));
}

TEST(Embeddings, AreKeptByModelAndText) {
  EXPECT_NE(embedding_key("a", "text"), embedding_key("b", "text"));
  EXPECT_NE(embedding_key("a", "text"), embedding_key("a", "other"));
  const auto snapshot = upstream("files", {tool("read_file", "Reads.", {"path"}, "Read")});
  const auto& list = snapshot->list(catalog::Kind::tool);
  EXPECT_EQ(embedded_text("files", list, list[0]), "files: read_file\nRead\nReads.\nParameters: path ");
}

TEST(Embeddings, AreKeptAsOneText) {
  const std::vector<KeyedVector> vectors = {{embedding_key("m", "a"), pointer({1, 2})},
                                            {embedding_key("m", "b"), pointer({3, -2, 1})}};
  const std::string text = pack(vectors);
  const auto read = unpack(text);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].key, vectors[1].key);
  EXPECT_EQ(read[1].vector->bytes(), vectors[1].vector->bytes());
  EXPECT_EQ(unpack(text.substr(0, text.size() - 4)).size(), 1U) << "damaged";
  EXPECT_TRUE(unpack("no base64").empty());
  EXPECT_TRUE(unpack("").empty());
}

}  // namespace
}  // namespace proteus::search::testing
