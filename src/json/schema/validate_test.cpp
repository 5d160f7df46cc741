#include <thread>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "json/schema/schema.hpp"

namespace proteus::json {
namespace {

std::shared_ptr<const Schema> compiled(std::string_view text, const SchemaLimits& limits = {}) {
  SchemaOptions options;
  options.limits = limits;
  auto schema = Schema::compile(boost::json::parse(text), options);
  if (!schema) throw std::runtime_error(schema.error().message());
  return *std::move(schema);
}

// Returns the errors, one per line.
std::string wrong(std::string_view schema, std::string_view instance) {
  const auto compiled_schema = compiled(schema);
  const auto value = boost::json::parse(instance);
  const Validation validation = compiled_schema->validate(value);
  EXPECT_EQ(compiled_schema->accepts(value), validation.ok());
  return validation.text();
}

TEST(SchemaError, SaysWhatTypeWasWanted) {
  constexpr std::string_view kSchema =
      R"({"properties": {"age": {"type": "integer"}, "tags": {"type": ["array", "null"]}}})";
  EXPECT_EQ(wrong(kSchema, R"({"age": "four"})"), R"(/age: must be an integer, not the string "four")");
  EXPECT_EQ(wrong(kSchema, R"({"age": 4.5})"), "/age: must be an integer, not the number 4.5");
  EXPECT_EQ(wrong(kSchema, R"({"age": null, "tags": {"a": 1}})"),
            "/age: must be an integer, not null\n/tags: must be an array or null, not an object");
  EXPECT_EQ(wrong(kSchema, R"({"age": 4.0})"), "");
}

TEST(SchemaError, NamesThePropertyThatIsUnknownAndTheOneThatWasMeant) {
  constexpr std::string_view kSchema =
      R"({"properties": {"name": true, "age": true, "phone_number": true}, "additionalProperties": false})";
  EXPECT_EQ(wrong(kSchema, R"({"naem": "x"})"),
            R"(/: property "naem" is not allowed; did you mean "name"? allowed: name, age, phone_number)");
  EXPECT_EQ(
      wrong(kSchema, R"({"phoneNumber": "x"})"),
      R"(/: property "phoneNumber" is not allowed; did you mean "phone_number"? allowed: name, age, phone_number)");
  EXPECT_EQ(wrong(kSchema, R"({"phone": "x"})"),
            R"(/: property "phone" is not allowed; did you mean "phone_number"? allowed: name, age, phone_number)");
  EXPECT_EQ(wrong(kSchema, R"({"colour": "x"})"),
            R"(/: property "colour" is not allowed; allowed: name, age, phone_number)");
  EXPECT_EQ(wrong(kSchema, R"({"name": "x", "nam": "y"})"),
            R"(/: property "nam" is not allowed; allowed: name, age, phone_number)");
  EXPECT_EQ(wrong(R"({"additionalProperties": false})", R"({"a": 1})"), R"(/: property "a" is not allowed)");
}

TEST(SchemaError, KnowsTheNamesBehindReferencesForUnevaluatedProperties) {
  EXPECT_EQ(wrong(
                R"({"allOf": [{"$ref": "#/$defs/base"}], "properties": {"city": true}, "unevaluatedProperties": false,
                      "$defs": {"base": {"properties": {"street": true}}}})",
                R"({"city": 1, "stret": 2})"),
            R"(/: property "stret" is not allowed; did you mean "street"? allowed: city, street)");
}

TEST(SchemaError, ListsEveryMissingProperty) {
  EXPECT_EQ(wrong(R"({"properties": {"to": {"required": ["city", "zip"]}}})", R"({"to": {}})"),
            "/to: missing required property \"city\"\n/to: missing required property \"zip\"");
  EXPECT_EQ(wrong(R"({"dependentRequired": {"card": ["owner"]}})", R"({"card": 1})"),
            R"(/: missing property "owner", required because "card" is present)");
}

TEST(SchemaError, ListsTheAllowedValues) {
  EXPECT_EQ(wrong(R"({"enum": ["red", "green", 3]})", R"("gren")"),
            R"(/: must be one of "red", "green", 3, not the string "gren"; did you mean "green"?)");
  EXPECT_EQ(wrong(R"({"const": {"a": 1.5}})", "7"), R"(/: must be {"a": 1.5}, not the number 7)");
  const std::string many = [] {
    std::string list = "0";
    for (int i = 1; i < 1000; ++i)
      list += ", " + std::to_string(i);
    return list;
  }();
  EXPECT_EQ(wrong(R"({"enum": [)" + many + "]}", "1000"),
            "/: must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 and 980 "
            "more, not the "
            "number 1000");
  EXPECT_EQ(wrong(R"({"enum": [)" + many + "]}", "999.0"), "");
}

TEST(SchemaError, TellsNumbersAndLengths) {
  EXPECT_EQ(wrong(R"({"minimum": 1})", "0"), "/: must be at least 1, not 0");
  EXPECT_EQ(wrong(R"({"exclusiveMinimum": 1})", "1.0"), "/: must be greater than 1, not 1");
  EXPECT_EQ(wrong(R"({"maximum": 1})", "1.5"), "/: must be at most 1, not 1.5");
  EXPECT_EQ(wrong(R"({"exclusiveMaximum": 1})", "1e300"), "/: must be less than 1, not 1e+300");
  EXPECT_EQ(wrong(R"({"multipleOf": 0.01})", "0.015"), "/: must be a multiple of 0.01, not 0.015");
  EXPECT_EQ(wrong(R"({"minLength": 3})", R"("🐲🐲")"), "/: must have at least 3 characters, not 2");
  EXPECT_EQ(wrong(R"({"maxItems": 1})", "[1, 2]"), "/: must have at most 1 item, not 2");
  EXPECT_EQ(wrong(R"({"minProperties": 1})", "{}"), "/: must have at least 1 property, not 0");
  EXPECT_EQ(wrong(R"({"pattern": "^a+$"})", R"("b")"), R"(/: must match the pattern ^a+$, not be "b")");
}

TEST(SchemaError, TellsWhatIsWrongWithAnArray) {
  EXPECT_EQ(wrong(R"({"uniqueItems": true})", R"([1, {"a": 1}, 2, {"a": 1.0}])"),
            "/: items must differ from each other, but items 1 and 3 are equal");
  EXPECT_EQ(wrong(R"({"contains": {"type": "string"}})", "[1]"),
            "/: must contain at least 1 matching item, has 0; item 0: must be a string, not the number 1");
  EXPECT_EQ(wrong(R"({"contains": {"type": "string"}, "maxContains": 1})", R"(["a", "b"])"),
            "/: must contain at most 1 matching items, has 2");
  EXPECT_EQ(wrong(R"({"prefixItems": [true], "items": false})", "[1, 2, 3]"), "/: must have at most 1 items, not 3");
  EXPECT_EQ(wrong(R"({"items": {"type": "string"}})", R"(["a", 2])"), "/1: must be a string, not the number 2");
  EXPECT_EQ(wrong(R"({"prefixItems": [true], "unevaluatedItems": false})", "[1, 2]"), "/1: is not allowed");
}

TEST(SchemaError, TellsWhatEachFormWanted) {
  constexpr std::string_view kSchema = R"({"anyOf": [
      {"properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"required": ["name", "city"]}]})";
  EXPECT_EQ(wrong(kSchema, R"({"id": "x"})"),
            R"(/: matches none of the 2 allowed forms; form 1: /id must be an integer, not the string "x")"
            R"(; form 2: missing required property "name", and missing required property "city")");
  EXPECT_EQ(wrong(R"({"oneOf": [{"type": "integer"}, {"minimum": 2}]})", "3"),
            "/: must match exactly one of the 2 allowed forms, but matches both form 1 and form 2");
  EXPECT_EQ(wrong(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})", "3"),
            "/: matches none of the 2 allowed forms; form 1: must be a string, not the number 3; form 2: "
            "must be null, not "
            "the number 3");
}

TEST(SchemaError, GoesIntoTheFormThatWasPlainlyMeant) {
  EXPECT_EQ(wrong(R"({"properties": {"to": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["city"]}]}}})",
                  R"({"to": {}})"),
            R"(/to: missing required property "city")");
  EXPECT_EQ(wrong(R"({"oneOf": [{"properties": {"kind": {"const": "card"}, "number": {"type": "string"}}},
                                {"properties": {"kind": {"const": "cash"}}}, {"type": "string"}]})",
                  R"({"kind": "card", "number": 7})"),
            "/number: must be a string, not the number 7");
}

TEST(SchemaError, TellsConditionsAndNegations) {
  EXPECT_EQ(wrong(R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}})", R"({"a": 1})"),
            R"(/: missing required property "b")");
  EXPECT_EQ(wrong(R"({"not": {"type": "string"}})", R"("a")"), "/: must not be a string");
  EXPECT_EQ(wrong(R"({"not": {"required": ["a"]}})", R"({"a": 1})"), R"(/: must not have the property "a")");
  EXPECT_EQ(wrong(R"({"not": {"const": 1}})", "1"), "/: must not be 1");
  EXPECT_EQ(wrong(R"({"not": {"minimum": 1, "maximum": 2}})", "1"), "/: has a form that is not allowed here");
  EXPECT_EQ(wrong(R"({"propertyNames": {"maxLength": 2}})", R"({"abc": 1})"),
            R"(/: property name "abc" is not allowed: must have at most 2 characters, not 3)");
  EXPECT_EQ(wrong(R"({"properties": {"a": false}})", R"({"a": 1})"), "/a: is not allowed");
}

TEST(SchemaError, HasAJsonPointerAndAKeyword) {
  const auto schema = compiled(R"({"additionalProperties": {"items": {"type": "string"}}})");
  const Validation validation = schema->validate(boost::json::parse(R"({"a/b~c": ["x", 1]})"));
  ASSERT_EQ(validation.errors.size(), 1U);
  EXPECT_EQ(validation.errors[0].instance_path, "/a~1b~0c/1");
  EXPECT_EQ(validation.errors[0].keyword, "type");
  EXPECT_TRUE(validation.complete);
  EXPECT_EQ(compiled("false")->validate(1).errors[0].instance_path, "");
}

TEST(SchemaError, DoesNotCallAPropertyUnevaluatedBecauseItsSchemaFailed) {
  EXPECT_EQ(wrong(R"({"properties": {"a": {"type": "string"}}, "unevaluatedProperties": false})", R"({"a": 1})"),
            "/a: must be a string, not the number 1");
  EXPECT_EQ(
      wrong(R"({"anyOf": [{"properties": {"a": {"type": "string"}}}], "unevaluatedProperties": false})", R"({"a": 1})"),
      "/a: must be a string, not the number 1");
}

// SEC-04
TEST(SchemaError, StaysShortHoweverLongItsPartsAre) {
  const std::string length(100'000, 'x');
  const std::string quoted = '"' + length + '"';
  const std::string_view schemas[] = {R"({"type": "integer"})",
                                      R"({"maxLength": 1})",
                                      R"({"pattern": "^y"})",
                                      R"({"enum": ["a", "b"]})",
                                      R"({"additionalProperties": false})",
                                      R"({"propertyNames": {"maxLength": 2}})",
                                      R"({"anyOf": [{"const": 1}, {"const": 2}, {"required": ["a"]}]})"};
  for (const std::string_view schema : schemas) {
    for (const std::string& instance : {quoted, "{" + quoted + ": 1}", "[" + quoted + "]"}) {
      for (const SchemaError& error : compiled(schema)->validate(boost::json::parse(instance)).errors) {
        EXPECT_LT(error.message.size(), 600U) << schema;
      }
    }
  }
  EXPECT_LT(wrong(R"({"const": )" + quoted + "}", "1").size(), 300U);
  EXPECT_LT(wrong(R"({"required": [)" + quoted + "]}", "{}").size(), 300U);
}

TEST(SchemaError, CutsTextBetweenCharacters) {
  std::string dragons;
  for (int i = 0; i < 100; ++i)
    dragons += "🐲";
  EXPECT_EQ(wrong(R"({"type": "null"})", '"' + dragons + '"'),
            "/: must be null, not the string \"" + dragons.substr(0, 60) + "…\"");
}

TEST(SchemaLimits, EndTheListOfErrors) {
  const auto schema = compiled(R"({"items": {"type": "string"}})");
  boost::json::array many(1000, 1);
  const Validation validation = schema->validate(many);
  EXPECT_EQ(validation.errors.size(), SchemaLimits().errors);
  EXPECT_FALSE(validation.complete);
  EXPECT_FALSE(validation.stopped);
}

// Returns a schema whose references double at each of `levels`.
std::string doubling(int levels) {
  std::string defs;
  for (int i = 0; i < levels; ++i) {
    const std::string next = R"({"$ref": "#/$defs/l)" + std::to_string(i + 1) + "\"}";
    defs += "\"l" + std::to_string(i) + R"(": {"allOf": [)" + next + ", " + next + "]}, ";
  }
  return R"({"$ref": "#/$defs/l0", "$defs": {)" + defs + "\"l" + std::to_string(levels) + R"(": {"type": "integer"}}})";
}

// SEC-04
TEST(SchemaLimits, EndExponentialWorkWithAClearError) {
  const auto schema = compiled(doubling(60));
  const Validation validation = schema->validate(1);
  ASSERT_EQ(validation.errors.size(), 1U);
  EXPECT_EQ(validation.errors[0].keyword, "limit");
  EXPECT_EQ(validation.errors[0].message,
            "checking stopped after 2000000 steps: the value is too large, or the schema too complex");
  EXPECT_FALSE(validation.complete);
  EXPECT_TRUE(validation.stopped);
  EXPECT_FALSE(schema->accepts(1));
}

// SEC-04
TEST(SchemaLimits, AreNoWayAroundANegation) {
  std::string schema = doubling(60);
  schema.replace(0, std::string_view(R"({"$ref": "#/$defs/l0")").size(), R"({"not": {"$ref": "#/$defs/l0"})");
  EXPECT_TRUE(compiled(schema)->accepts("x"));
  EXPECT_FALSE(compiled(schema)->accepts(1));
}

// SEC-04
TEST(SchemaLimits, EndReferencesThatOnlyLoopDynamically) {
  const auto schema = compiled(R"({"$id": "http://example.com/a", "$dynamicAnchor": "x", "$ref": "b",
      "$defs": {"b": {"$id": "b", "$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x"}}}}})");
  const Validation validation = schema->validate(1);
  ASSERT_EQ(validation.errors.size(), 1U);
  EXPECT_EQ(validation.errors[0].message, "checking stopped where schemas apply schemas 1024 levels deep");
}

// SEC-04
TEST(SchemaLimits, EndDeepInstances) {
  boost::json::value deep = 1;
  for (int i = 0; i < 200; ++i)
    deep = boost::json::array{std::move(deep)};
  const auto schema = compiled(R"({"uniqueItems": true})");
  const Validation validation = schema->validate(deep);
  ASSERT_EQ(validation.errors.size(), 1U);
  EXPECT_EQ(validation.errors[0].message, "is nested deeper than 128 levels");
  EXPECT_FALSE(schema->accepts(deep));
}

TEST(SchemaLimits, AllowRecursionAsDeepAsTheInstance) {
  const auto schema = compiled(R"({"$ref": "#/$defs/node", "$defs": {"node": {"allOf": [{"anyOf": [{"type": "integer"},
      {"type": "array", "items": {"$ref": "#/$defs/node"}}]}]}}})");
  boost::json::value deep = 1;
  for (int i = 0; i < 127; ++i)
    deep = boost::json::array{std::move(deep)};
  EXPECT_TRUE(schema->accepts(deep));
  boost::json::value* innermost = &deep;
  while (innermost->is_array())
    innermost = &innermost->get_array().front();
  *innermost = "x";
  const Validation validation = schema->validate(deep);
  EXPECT_TRUE(validation.complete);
  ASSERT_EQ(validation.errors.size(), 1U);
  EXPECT_EQ(validation.errors[0].instance_path.size(), 127U * 2);
}

// SEC-04
TEST(SchemaLimits, CoverPatternsThatAreSlowAtTheirWorst) {
  const auto schema = compiled(R"({"pattern": "(a?){500}a{500}b"})");
  const boost::json::value text(boost::json::string(1'000'000, 'a'));
  // A backtracking engine would exceed the time limit of the test.
  EXPECT_FALSE(schema->accepts(text));
}

// SEC-04
TEST(SchemaLimits, CoverNamesThatAreLong) {
  const auto schema = compiled(R"({"items": {"required": [")" + std::string(500'000, 'x') + "\"]}}");
  boost::json::object wide;
  for (int i = 0; i < 40; ++i)
    wide["member" + std::to_string(i)] = i;
  const Validation validation = schema->validate(boost::json::array(1000, wide));
  EXPECT_FALSE(validation.complete);
  EXPECT_FALSE(schema->accepts(boost::json::array(1000, wide)));
  EXPECT_LT(validation.text().size(), 10'000U);
}

TEST(SchemaLimits, LeaveRoomForLargeHonestInstances) {
  const auto schema = compiled(R"({"type": "array", "uniqueItems": true, "items": {"type": "object", "properties": {
      "id": {"type": "integer", "minimum": 0}, "name": {"type": "string", "pattern": "^[a-z]+[0-9]*$", "maxLength": 20},
      "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}}}, "required": ["id", "name"],
      "additionalProperties": false}})");
  boost::json::array rows;
  for (int i = 0; i < 10'000; ++i) {
    rows.push_back({{"id", i}, {"name", "name" + std::to_string(i)}, {"tags", {"a", "b"}}});
  }
  EXPECT_EQ(schema->validate(rows).text(), "");
}

TEST(Schema, IsUsedByManyThreadsAtOnce) {
  const auto schema =
      compiled(R"({"properties": {"a": {"pattern": "^x+$"}, "b": {"enum": [1, 2]}}, "required": ["a"]})");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&schema] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(schema->accepts({{"a", "xxx"}, {"b", 1}}));
        EXPECT_EQ(schema->validate({{"a", "y"}, {"b", 3}}).errors.size(), 2U);
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
}

TEST(Schema, TreatsFormatAsAnnotation) { EXPECT_EQ(wrong(R"({"format": "email"})", R"("not an address")"), ""); }

}  // namespace
}  // namespace proteus::json
