// SRC-08: the vectors in the store.
#include "gateway/search/kept_vectors.hpp"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/testing/test_run.hpp"
#include "store/memory_store.hpp"

namespace proteus::gateway {
namespace {

using ::testing::SizeIs;

class KeptVectorsTest : public ::testing::Test {
 protected:
  // Vectors of the usual size.
  static std::vector<search::KeyedVector> vectors(std::size_t from, std::size_t to) {
    const std::vector<float> components(1536, 0.5F);
    std::vector<search::KeyedVector> made;
    for (std::size_t i = from; i < to; ++i)
      made.push_back({json::sha256(std::to_string(i)),
                      std::make_shared<const search::Vector>(search::Vector::of(components).value())});
    return made;
  }
  KeptVectors::Kept recall() { return proteus::test::run(io_, kept_.recall("up")); }
  void keep(std::vector<search::KeyedVector> present) {
    proteus::test::run(io_, kept_.keep("up", std::move(present), recall()));
  }
  std::size_t settings() { return proteus::test::run(io_, store_.settings("search vectors of")).value().size(); }

  boost::asio::io_context io_;
  store::MemoryStore store_;
  BackgroundThreads background_{1};
  KeptVectors kept_{store_, background_};
};

TEST_F(KeptVectorsTest, AreManyMoreThanOneSettingHolds) {
  keep(vectors(0, 2000));
  EXPECT_THAT(recall().vectors, SizeIs(2000));
  EXPECT_GT(settings(), 3U);
  EXPECT_EQ(recall().parts, settings());
}

// A definition may come back, and another context may describe it differently.
TEST_F(KeptVectorsTest, OfDefinitionsThatAreGoneAreSome) {
  keep(vectors(0, 3000));
  keep(vectors(3000, 3010));
  const auto kept = recall();
  EXPECT_THAT(kept.vectors, SizeIs(1010));
  EXPECT_TRUE(kept.vectors.contains(json::sha256("3005")));
  EXPECT_EQ(kept.parts, settings());
}

TEST_F(KeptVectorsTest, AreBoundedAndThenThoseOfOldDefinitionsGoFirst) {
  keep(vectors(0, 1000));
  keep(vectors(1000, 17'000));
  const auto kept = recall();
  EXPECT_EQ(kept.parts, search::kMostVectorParts);
  EXPECT_TRUE(kept.vectors.contains(json::sha256("1000")));
  EXPECT_FALSE(kept.vectors.contains(json::sha256("0")));
}

}  // namespace
}  // namespace proteus::gateway
