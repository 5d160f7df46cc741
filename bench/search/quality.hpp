#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/snapshot.hpp"
#include "search/rank.hpp"

// How good a ranking is, on the queries and real tools in this folder.
namespace proteus::bench {

struct QualityServer {
  bool held_out;
  catalog::SnapshotPointer snapshot;
};

struct QualityQuery {
  std::string style;
  std::vector<std::string> steps;
  // "server.tool": what the query is about, each as tools that would do, any of them.
  std::vector<std::vector<std::string>> expected;
};

// Throw std::runtime_error where a file is not as it should be.
std::vector<QualityServer> read_servers(const std::string& path);
std::vector<QualityQuery> read_queries(const std::string& path);

// Means over queries.
struct Quality {
  std::size_t queries = 0;
  double recall_1 = 0;
  double recall_5 = 0;
  double recall_10 = 0;
  double ndcg_10 = 0;
};

// Where each query's tools are found among the servers. Of `style` only, unless that is empty.
Quality measure_quality(const std::vector<QualityServer>& servers, const std::vector<QualityQuery>& queries,
                        std::string_view style, const search::Tuning& tuning);

}  // namespace proteus::bench
