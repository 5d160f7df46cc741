#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/snapshot.hpp"
#include "search/rank.hpp"

// Measures the quality of a ranking with the queries and real tools in this folder.
namespace proteus::bench {

struct QualityServer {
  bool held_out;
  catalog::SnapshotPointer snapshot;
};

struct QualityQuery {
  std::string style;
  std::vector<std::string> steps;
  // The tools that the query is about, as "server.tool". Each is a list of alternatives, any of which is right.
  std::vector<std::vector<std::string>> expected;
};

// Both throw std::runtime_error if a file is malformed.
std::vector<QualityServer> read_servers(const std::string& path);
std::vector<QualityQuery> read_queries(const std::string& path);

// Returns the baseline: BM25 over name and description, without stems, synonyms and corrections.
search::Tuning plain_ranking();

// Returns whether a query is about a held-out server, that is, one that no weight was chosen on.
bool is_held_out(const QualityQuery& query, const std::vector<QualityServer>& servers);

// Means over queries.
struct Quality {
  std::size_t queries = 0;
  double recall_1 = 0;
  double recall_5 = 0;
  double recall_10 = 0;
  double ndcg_10 = 0;
};

// Ranks the tools of all servers for each query of `style`, or for all queries if `style` is empty.
Quality measure_quality(const std::vector<QualityServer>& servers, const std::vector<QualityQuery>& queries,
                        std::string_view style, const search::Tuning& tuning);

}  // namespace proteus::bench
