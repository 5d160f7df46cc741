// Fuzzes the search with arbitrary bytes as a query and as the description of a tool. Words have a bounded length, and
// a query has a bounded number of them.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "json/text.hpp"
#include "search/rank.hpp"
#include "search/words.hpp"

namespace {

using namespace proteus;
using namespace proteus::search;
using fuzz::check;

// Returns null if the description is not valid text.
catalog::SnapshotPointer upstream_of(std::string_view description) {
  const std::string tool =
      R"({"name":"x1","description":)" + json::quote(description) + R"(,"inputSchema":{"type":"object"}})";
  const std::vector<std::string_view> raw = {tool};
  auto list = catalog::DefinitionList::build(catalog::Kind::tool, raw, {}, {});
  if (!list) return nullptr;
  catalog::Snapshot::Lists lists;
  lists[catalog::Kind::tool] = *list;
  return std::make_shared<const catalog::Snapshot>(catalog::UpstreamName("u"), 1, std::move(lists));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t count = 0;
  Words words(text);
  while (words.next()) {
    check(!words.word().empty() && words.word().size() <= Words::kLongest, "a word has a bounded length");
    ++count;
  }
  check(count <= 2 * size + 1, "a text has no more words than characters");

  const auto query = Query::read(text);
  if (!query) return 0;
  check(count > 0, "a query has words");
  check(query->steps().front().size() <= Query::kMaxConcepts, "a query has a bounded number of words");
  const auto snapshot = upstream_of(text.substr(0, 256));
  if (!snapshot) return 0;
  const std::vector<Visible> parts = {{SnapshotIndex::build(*snapshot), {}}};
  const auto hits = rank(parts, *query, 5);
  check(hits.size() <= 1, "what is there once is found once");
  return 0;
}
