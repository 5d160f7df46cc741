// What a search leaves of its worker's time to others.
#include "gateway/search/tool_search.hpp"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/testing/test_run.hpp"
#include "catalog/view/catalog.hpp"
#include "catalog/view/view.hpp"
#include "search/testing/searching.hpp"

namespace proteus::gateway {
namespace {

using proteus::test::settle;
using proteus::test::Started;
using ::testing::Contains;
using ::testing::Each;
using ::testing::SizeIs;

class SearchOnAWorker : public ::testing::Test {
 protected:
  SearchOnAWorker() {
    std::vector<std::string> tools = {search::testing::tool("send_mail", "Sends mail.")};
    for (int i = 0; i < 1500; ++i)
      tools.push_back(search::testing::tool(fmt::format("read_file_{}", i), "Reads a file."));
    catalog::Catalog catalog;
    catalog.set_order({catalog::UpstreamName("up")}).value();
    catalog.publish(search::testing::upstream("up", tools)).value();
    usable = std::make_shared<const UsableTools>(std::make_shared<const catalog::View>(catalog.current()));
    // The first search makes the index.
    EXPECT_TRUE(proteus::test::run(io, tool_search.find(usable, query, 1)));
  }

  // Lets the background threads wait for `go`.
  void keep_busy() {
    busy.emplace(io, background.run([may_go = go.get_future().share()] {
      may_go.wait();
      return true;
    }));
    settle(io);
  }
  void let_go() {
    go.set_value();
    EXPECT_TRUE(busy->finish());
  }

  const std::vector<std::string_view> query = {"send mail"};
  const std::vector<std::string_view> steps = std::vector<std::string_view>(16, "read a file");
  const std::vector<std::string_view> names = std::vector<std::string_view>(50, "sned_mail");
  SystemClock clock;
  boost::asio::io_context io;
  BackgroundThreads background{1};
  std::promise<void> go;
  ToolSearch tool_search{clock, background, {}};
  std::shared_ptr<const UsableTools> usable;
  std::optional<Started<bool>> busy;
};

TEST_F(SearchOnAWorker, AnswersAnOrdinaryQueryAtOnce) {
  keep_busy();
  Started found(io, tool_search.find(usable, query, 10));
  settle(io);
  EXPECT_TRUE(found.is_done());
  let_go();
  EXPECT_EQ(found.finish().value().at(0).name, "send_mail");
}

// SRC-09: many queries, and names of which each is a query, are ranked on background threads.
TEST_F(SearchOnAWorker, LeavesLongWorkToOtherThreads) {
  keep_busy();
  Started found(io, tool_search.find(usable, steps, 10));
  Started nearest(io, tool_search.nearest(usable, names, 3));
  settle(io);
  EXPECT_FALSE(found.is_done());
  EXPECT_FALSE(nearest.is_done());
  let_go();
  EXPECT_THAT(found.finish().value(), SizeIs(10));
  const auto near = nearest.finish();
  EXPECT_THAT(near, SizeIs(50));
  EXPECT_THAT(near, Each(Contains("send_mail")));
}

TEST_F(SearchOnAWorker, MayBeCutOffWhileItsWorkWaits) {
  keep_busy();
  Started nearest(io, tool_search.nearest(usable, names, 3));
  settle(io);
  nearest.cancel();
  settle(io);
  EXPECT_TRUE(nearest.is_done());
  const std::weak_ptr<const UsableTools> used = std::exchange(usable, nullptr);
  EXPECT_FALSE(used.expired()) << "the work owns what it reads";
  let_go();
}

}  // namespace
}  // namespace proteus::gateway
