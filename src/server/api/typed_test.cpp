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
  // Valid by the schema, and still too large for the type.
  EXPECT_EQ(code_of(call("draw", R"({"title":"t","color":"red","points":[],"width":999})")), -32603);
}

TEST_F(Typed, OfferTheSchemasOfTheTypes) {
  const auto schema = typed::schema_of<Drawing>();
  EXPECT_EQ(schema.at("properties").at("color").at("enum").at(1), "green");
  EXPECT_EQ(schema.at("properties").at("width").at("minimum"), 0);
  EXPECT_EQ(schema.at("required").as_array().size(), 3U);
}

}  // namespace
}  // namespace proteus::server
