#include <gtest/gtest.h>
#include <proteus/typed.hpp>

#include "server/testing/test_server.hpp"

namespace proteus::server {

enum class Color { red, green };
BOOST_DESCRIBE_ENUM(Color, red, green)

struct Point {
  double x = 0;
  double y = 0;
};
BOOST_DESCRIBE_STRUCT(Point, (), (x, y))

struct Drawing {
  std::string title;
  Color color{};
  std::vector<Point> points;
  std::optional<std::uint8_t> width;
};
BOOST_DESCRIBE_STRUCT(Drawing, (), (title, color, points, width))

struct Count {
  std::int64_t items = 0;
};
BOOST_DESCRIBE_STRUCT(Count, (), (items))

struct Drawn {
  std::size_t points = 0;
  bool wide = false;
};
BOOST_DESCRIBE_STRUCT(Drawn, (), (points, wide))

namespace {

class Typed : public ::testing::Test {
 protected:
  Typed() : server({.name = "test", .version = "1"}) {
    add_typed_tool<Drawing>(server, {.name = "draw"}, [](const Drawing& drawing) {
      return Drawn{drawing.points.size(), drawing.width.value_or(1) > 1};
    }).value();
    add_typed_tool<Point>(server, {.name = "who"}, [](const Point&, Context& context) {
      return "principal:" + std::string(context.principal());
    }).value();
    add_typed_tool<Count>(server, {.name = "count"}, [](const Count& count) {
      return std::to_string(count.items);
    }).value();
    client.emplace(server.listen().value());
  }
  boost::json::value call(std::string_view name, std::string_view arguments) {
    return modern_call(*client, name, fmt::format(R"(,"arguments":{})", arguments)).json();
  }

  Server server;
  std::optional<RawClient> client;
};

TEST_F(Typed, ReadArgumentsAndWriteResultsAsTheTypesSay) {
  const auto result =
      call("draw", R"({"title":"t","color":"green","points":[{"x":1,"y":2.5}],"width":3})").at("result");
  EXPECT_EQ(result.at("structuredContent").at("points"), 1);
  EXPECT_EQ(result.at("structuredContent").at("wide"), true);
  EXPECT_EQ(call("draw", R"({"title":"t","color":"red","points":[]})").at("result").at("structuredContent").at("wide"),
            false);
  EXPECT_EQ(text_of(call("who", R"({"x":1,"y":2})")), "principal:");
}

TEST_F(Typed, RefuseWhatTheTypesDoNotAllow) {
  for (const char* arguments :
       {"{}", R"({"title":1,"color":"red","points":[]})", R"({"title":"t","color":"blue","points":[]})",
        R"({"title":"t","color":"red","points":[{"x":1}]})", R"({"title":"t","color":"red","points":[],"width":-1})",
        R"({"title":"t","color":"red","points":[],"more":1})"}) {
    EXPECT_EQ(call("draw", arguments).at("result").at("isError"), true) << arguments;
  }
  const auto large = call("draw", R"({"title":"t","color":"red","points":[],"width":999})").at("result");
  EXPECT_EQ(large.at("isError"), true);
  EXPECT_NE(std::string_view(large.at("content").at(0).at("text").as_string()).find("/width"), std::string_view::npos);
  // Valid by the schema, but too large for the type.
  for (const char* number : {"9223372036854775808", "1e30", "-1e30"}) {
    const auto refused = call("count", fmt::format(R"({{"items":{}}})", number)).at("result");
    EXPECT_EQ(refused.at("isError"), true) << number;
  }
  EXPECT_EQ(text_of(call("count", R"({"items":9223372036854775807})")), "9223372036854775807");
}

TEST_F(Typed, OfferTheSchemasOfTheTypes) {
  const auto schema = typed::schema_of<Drawing>();
  EXPECT_EQ(schema.at("properties").at("color").at("enum").at(1), "green");
  EXPECT_EQ(schema.at("properties").at("width").at("minimum"), 0);
  EXPECT_EQ(schema.at("properties").at("width").at("maximum"), 255);
  EXPECT_EQ(typed::schema_of<int>().at("minimum"), -2'147'483'648LL);
  EXPECT_EQ(typed::schema_of<std::uint32_t>().at("maximum"), 4'294'967'295LL);
  EXPECT_EQ(schema.at("required").as_array().size(), 3U);
}

}  // namespace
}  // namespace proteus::server
