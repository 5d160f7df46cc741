// SHP-02: a shaped schema accepts exactly the arguments that the original accepts once the others are added.
#include <random>

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "catalog/shape/shape.hpp"
#include "catalog/shape/shaped_tool.hpp"
#include "catalog/testing/test_support.hpp"
#include "json/schema/schema.hpp"

namespace proteus::catalog {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

class RandomTools {
 public:
  explicit RandomTools(unsigned seed) : random_(seed) {}

  object schema() {
    object out{{"type", "object"}};
    object properties;
    for (const auto name : kNames) {
      if (chance(2)) properties[name] = property();
    }
    if (!chance(8)) out["properties"] = properties;
    if (chance(2)) out["required"] = names();
    if (chance(3)) out["additionalProperties"] = chance(2) ? value(false) : value(property());
    if (chance(4)) out["anyOf"] = array{object{{"required", names()}}, object{{"properties", {{"e", property()}}}}};
    if (chance(6)) out["dependentRequired"] = object{{pick(), names()}};
    if (chance(10)) out["patternProperties"] = object{{"^[ab]$", property()}};
    if (chance(12)) out["minProperties"] = 1;
    return out;
  }
  ArgumentValues values() {
    ArgumentValues out;
    for (const auto name : kNames) {
      if (chance(4)) out.emplace(name, boost::json::serialize(argument()));
    }
    return out;
  }
  object arguments() {
    object out;
    for (const auto name : kNames) {
      if (chance(2)) out[name] = argument();
    }
    return out;
  }

 private:
  static constexpr std::array kNames = {"a", "b", "c", "d", "e"};

  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  std::string pick() { return kNames.at(random_() % kNames.size()); }
  array names() {
    array out;
    for (const auto name : kNames) {
      if (chance(4)) out.emplace_back(name);
    }
    return out;
  }
  value property() {
    switch (random_() % 6) {
      case 0: return object{{"type", "string"}};
      case 1: return object{{"type", "integer"}, {"default", 7}};
      case 2: return object{{"enum", {1, "x"}}};
      case 3: return object{};
      case 4: return true;
      default: return object{{"type", array{"integer", "string"}}, {"maximum", 5}};
    }
  }
  value argument() {
    switch (random_() % 4) {
      case 0: return 1;
      case 1: return 9;
      case 2: return "x";
      default: return nullptr;
    }
  }

  std::mt19937 random_;
};

TEST(ShapedSchema, TakesExactlyWhatTheOriginalTakesWithTheRest) {
  RandomTools random(20261117);
  std::size_t compared = 0;
  std::size_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const object schema = random.schema();
    const std::string tool = boost::json::serialize(object{{"name", "t"}, {"inputSchema", schema}});
    const ArgumentValues fixed = random.values();
    ArgumentValues defaults = random.values();
    for (const auto& [name, text] : fixed)
      defaults.erase(name);
    if (fixed.empty() && defaults.empty()) continue;
    const Shape shape({{.match = {"t"}, .fixed = fixed, .defaults = defaults}});
    const auto shaped = shape.apply(testing::list_of(Kind::tool, {tool}), {}).value().list;
    if (shaped->size() == 0) continue;
    const Definition& definition = shaped->definitions().front();
    const auto shown = json::Schema::compile(json::parse(definition.text).value().at("inputSchema")).value();
    const auto original = json::Schema::compile(schema).value();
    for (int i = 0; i < 20; ++i) {
      object given = random.arguments();
      for (const auto& [name, text] : fixed)
        given.erase(name);
      object whole = given;
      for (const ArgumentValues* values : {&fixed, static_cast<const ArgumentValues*>(&defaults)}) {
        for (const auto& [name, text] : *values) {
          if (!whole.contains(name)) whole[name] = json::parse(text).value();
        }
      }
      ++compared;
      const bool fits = original->accepts(whole);
      accepted += fits ? 1U : 0U;
      const std::string written = boost::json::serialize(given);
      ASSERT_EQ(shown->accepts(given), fits) << tool << '\n' << definition.text << '\n' << written;
      const auto completed = definition.shaped->complete(written);
      ASSERT_EQ(completed.has_value(), fits) << tool << '\n' << written;
      if (completed) ASSERT_EQ(json::parse(*completed).value(), value(whole));
    }
  }
  EXPECT_GT(compared, 5000U);
  EXPECT_GT(accepted, compared / 20);
}

}  // namespace
}  // namespace proteus::catalog
