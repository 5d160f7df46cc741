#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

// UIX-13: calls, errors and latency over time, from the gateway's own figures.
namespace proteus::admin {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(FigureRoutes, UIX_13_CountBetweenLooks) {
  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
  fixture.ask("POST", "/admin/upstreams", object{{"name", "files"}, {"url", upstream.url()}});
  wait_until([&] { return fixture.tools().size() == 1; });
  const auto look = [&] {
    fixture.clock.skip(11s);
    fixture.figures.look(fixture.clock.wall());
  };
  const auto moments = [&](const char* query) {
    return fixture.ask("GET", std::string("/admin/figures") + query).json().at("moments").as_array();
  };
  EXPECT_TRUE(moments("").empty());
  look();
  fixture.call("files_ping");
  fixture.call("files_ping");
  fixture.call("files_none");
  look();
  fixture.figures.look(fixture.clock.wall());
  look();
  const auto all = moments("");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at(0).at("requests").as_int64(), 3);
  EXPECT_EQ(all.at(0).at("failed").as_int64(), 1);
  EXPECT_GE(all.at(0).at("mean_ms").as_double(), 0);
  EXPECT_EQ(all.at(1).at("requests").as_int64(), 0);
  EXPECT_TRUE(all.at(1).at("mean_ms").is_null());
  EXPECT_EQ(moments("?upstream=files").at(0).at("requests").as_int64(), 2);
  EXPECT_EQ(moments("?upstream=none").at(0).at("requests").as_int64(), 0);
}

TEST(FigureRoutes, UIX_13_KeepAnHour) {
  store::MemoryStore memory;
  AdminFixture fixture{memory};
  auto now = fixture.clock.wall();
  for (std::size_t i = 0; i < gateway::Figures::kKept + 10; ++i)
    fixture.figures.look(now += 10s);
  EXPECT_EQ(fixture.figures.all().size(), gateway::Figures::kKept);
}

}  // namespace
}  // namespace proteus::admin
