#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "quality.hpp"

// SRC-11: search quality is measured with real tools, and the documentation shows the measured values.
namespace proteus::bench {
namespace {

using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kFolder = std::string(PROTEUS_SOURCE_DIR) + "/bench/search";

class SearchQuality : public ::testing::Test {
 protected:
  // Returns a measurement as a row of the table in the documentation.
  std::string row(std::string_view name, const search::Tuning& tuning) const {
    std::vector<QualityQuery> queries = queries_;
    std::erase_if(queries, [&](const QualityQuery& query) { return !is_held_out(query, servers_); });
    const Quality quality = measure_quality(servers_, queries, "", tuning);
    return fmt::format("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |", name, quality.recall_1, quality.recall_5,
                       quality.recall_10, quality.ndcg_10);
  }

  const std::vector<QualityServer> servers_ = read_servers(kFolder + "/tools.json");
  const std::vector<QualityQuery> queries_ = read_queries(kFolder + "/queries.tsv");
};

TEST_F(SearchQuality, IsMeasuredOnManyRealToolsByQueriesOfSeveralStyles) {
  std::size_t tools = 0;
  for (const auto& server : servers_)
    tools += server.snapshot->list(catalog::Kind::tool).size();
  std::set<std::string> styles;
  for (const auto& query : queries_)
    styles.insert(query.style);
  EXPECT_THAT(servers_, SizeIs(Ge(15U)));
  EXPECT_GE(tools, 300U);
  EXPECT_THAT(queries_, SizeIs(Ge(150U)));
  EXPECT_THAT(styles, SizeIs(Ge(4U)));
}

TEST_F(SearchQuality, IsWhatTheDocumentationSays) {
  std::ifstream file(std::string(PROTEUS_SOURCE_DIR) + "/docs/search.md");
  const std::string documented{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(documented, HasSubstr(row("Proteus", search::Tuning{})));
  EXPECT_THAT(documented, HasSubstr(row("plain BM25", plain_ranking())));
}

}  // namespace
}  // namespace proteus::bench
