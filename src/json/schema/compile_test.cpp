#include <memory>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/schema/schema.hpp"

namespace proteus::json {
namespace {

std::shared_ptr<const Schema> compiled_with(std::string_view text, const SchemaOptions& options = {}) {
  auto schema = Schema::compile(boost::json::parse(text), options);
  if (!schema) {
    ADD_FAILURE() << schema.error().message();
    return nullptr;
  }
  return *std::move(schema);
}

Error refusal(std::string_view text, const SchemaOptions& options = {}) {
  const auto schema = Schema::compile(boost::json::parse(text), options);
  if (schema) {
    ADD_FAILURE() << text << " was taken";
    return errors::internal("");
  }
  return schema.error();
}

bool accepts(const std::shared_ptr<const Schema>& schema, std::string_view instance) {
  return schema->accepts(boost::json::parse(instance));
}

TEST(SchemaDialect, Is202012UnlessSaidOtherwise) {
  const auto modern = compiled_with(R"({"prefixItems": [{"type": "string"}], "$ref": "#/$defs/short",
                                   "$defs": {"short": {"maxItems": 1}}})");
  EXPECT_FALSE(accepts(modern, "[1]"));
  EXPECT_FALSE(accepts(modern, R"(["a", "b"])"));
}

TEST(SchemaDialect, IsDraft7WhereSchemaSaysSo) {
  for (const std::string_view uri :
       {"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#"}) {
    const auto old = compiled_with(R"({"$schema": ")" + std::string(uri) + R"(", "items": [{"type": "string"}],
                                  "additionalItems": false, "dependencies": {"a": ["b"]}})");
    EXPECT_FALSE(accepts(old, "[1]"));
    EXPECT_FALSE(accepts(old, R"(["a", "b"])"));
    EXPECT_FALSE(accepts(old, R"({"a": 1})"));
  }
}

TEST(SchemaDialect, IsThatOfTheDocumentReferredTo) {
  SchemaOptions options;
  options.documents.emplace("http://example.com/old", boost::json::parse(R"({
      "$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "prefixItems": [false]})"));
  const auto schema = compiled_with(R"({"$ref": "http://example.com/old"})", options);
  EXPECT_TRUE(accepts(schema, R"(["a"])"));
  EXPECT_FALSE(accepts(schema, "[1]"));
}

TEST(SchemaDialect, MayChangeForASubschema) {
  const auto schema = compiled_with(R"({"properties": {"pair": {
      "$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}, {"type": "integer"}]}}})");
  EXPECT_TRUE(accepts(schema, R"({"pair": ["a", 1]})"));
  EXPECT_FALSE(accepts(schema, R"({"pair": [1, "a"]})"));
}

TEST(SchemaDialect, ThatIsUnknownIsRefusedWithTheKnownOnes) {
  for (const std::string_view uri : {"http://json-schema.org/draft-04/schema#",
                                     "https://json-schema.org/draft/2019-09/schema", "http://example.com/own"}) {
    const Error error = refusal(R"({"$schema": ")" + std::string(uri) + R"("})");
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.message(), "schema at #: the dialect " + std::string(uri) +
                                   " is not supported; supported are https://json-schema.org/draft/2020-12/schema and "
                                   "http://json-schema.org/draft-07/schema#");
  }
}

TEST(SchemaDialect, MayBeAMetaschemaThatChoosesVocabularies) {
  SchemaOptions options;
  const auto metaschema = [](std::string_view vocabulary, std::string_view required) {
    return boost::json::parse(R"({"$schema": "https://json-schema.org/draft/2020-12/schema", "$vocabulary": {
        "https://json-schema.org/draft/2020-12/vocab/core": true, ")" +
                              std::string(vocabulary) + "\": " + std::string(required) + "}}");
  };
  options.documents.emplace("http://example.com/optional", metaschema("http://example.com/vocab", "false"));
  options.documents.emplace("http://example.com/required", metaschema("http://example.com/vocab", "true"));
  options.documents.emplace("http://example.com/applying",
                            metaschema("https://json-schema.org/draft/2020-12/vocab/applicator", "true"));

  EXPECT_TRUE(accepts(compiled_with(R"({"$schema": "http://example.com/optional", "type": "string"})", options), "1"));
  const auto applying = compiled_with(
      R"({"$schema": "http://example.com/applying", "type": "string", "properties": {"a": false}})", options);
  EXPECT_TRUE(accepts(applying, "1"));
  EXPECT_FALSE(accepts(applying, R"({"a": 1})"));
  EXPECT_EQ(refusal(R"({"$schema": "http://example.com/required"})", options).message(),
            "schema at #: the vocabulary http://example.com/vocab is required and not supported");
}

// SEC-04
TEST(SchemaReference, IsNeverFetched) {
  const Error error = refusal(R"({"properties": {"a": {"$ref": "https://example.com/a.json#/b"}}})");
  EXPECT_EQ(error.kind(), ErrorKind::invalid);
  EXPECT_EQ(error.message(),
            "schema at #/properties/a: the reference https://example.com/a.json#/b leads outside: there is no "
            "https://example.com/a.json in this document or among those handed in, and references are never "
            "fetched");
}

TEST(SchemaReference, LeadsToDocumentsHandedInAndToWhatIsInsideThem) {
  SchemaOptions options;
  options.documents.emplace("https://example.com/bundle", boost::json::parse(R"({
      "$defs": {"name": {"$id": "https://example.com/name", "type": "string", "$anchor": "short", "maxLength": 3}}})"));
  for (const std::string_view reference :
       {"https://example.com/bundle#/$defs/name", "https://example.com/name", "https://example.com/name#short"}) {
    const auto schema = compiled_with(R"({"$ref": ")" + std::string(reference) + "\"}", options);
    EXPECT_TRUE(accepts(schema, R"("abc")"));
    EXPECT_FALSE(accepts(schema, R"("abcd")"));
  }
}

TEST(SchemaReference, LeadsToTheStandardMetaschemas) {
  const auto modern = compiled_with(R"({"$ref": "https://json-schema.org/draft/2020-12/schema"})");
  EXPECT_TRUE(accepts(modern, R"({"properties": {"a": {"minLength": 1}}})"));
  EXPECT_FALSE(accepts(modern, R"({"properties": {"a": {"minLength": -1}}})"));
  const auto old = compiled_with(R"({"$ref": "http://json-schema.org/draft-07/schema#"})");
  EXPECT_TRUE(accepts(old, R"({"items": [{"type": "string"}]})"));
  EXPECT_FALSE(accepts(old, R"({"items": [{"type": "strnig"}]})"));
}

TEST(SchemaReference, ThatLeadsNowhereIsNamed) {
  EXPECT_EQ(refusal(R"({"$ref": "#/$defs/a"})").message(), "schema at #: the reference #/$defs/a leads to nothing");
  EXPECT_EQ(refusal(R"({"$ref": "#a"})").message(), "schema at #: the reference #a names an anchor that is not there");
  EXPECT_EQ(refusal(R"({"$ref": "#/%zz"})").message(), "schema at #: the reference #/%zz is broken");
  EXPECT_EQ(refusal(R"({"$ref": "#/a~2"})").message(), "schema at #: the reference #/a~2 leads to nothing");
}

TEST(SchemaReference, ToItselfForTheSameValueIsRefused) {
  for (const std::string_view endless :
       {R"({"$ref": "#"})", R"({"allOf": [{"$ref": "#"}]})",
        R"({"anyOf": [{"type": "string"}, {"not": {"$ref": "#"}}]})",
        R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})"}) {
    EXPECT_NE(refusal(endless).message().find("refers to itself for the same value"), std::string::npos) << endless;
  }
  const auto tree = compiled_with(R"({"type": "object", "additionalProperties": {"$ref": "#"}})");
  EXPECT_TRUE(accepts(tree, R"({"a": {"b": {}}})"));
  EXPECT_FALSE(accepts(tree, R"({"a": {"b": 1}})"));
}

TEST(SchemaCompile, NamesTheKeywordThatIsWrong) {
  const std::pair<std::string_view, std::string_view> faults[] = {
      {R"({"properties": {"age": {"type": "strnig"}}})",
       "schema at #/properties/age: \"type\" must be null, boolean, object, array, number, string or "
       "integer, or a list of "
       "them"},
      {R"({"type": []})", "schema at #: \"type\" must not be an empty list"},
      {R"({"minLength": -1})", "schema at #: \"minLength\" must be a whole number, 0 or more"},
      {R"({"maxItems": 1.5})", "schema at #: \"maxItems\" must be a whole number, 0 or more"},
      {R"({"multipleOf": 0})", "schema at #: \"multipleOf\" must be a number greater than 0"},
      {R"({"minimum": "1"})", "schema at #: \"minimum\" must be a number"},
      {R"({"required": "a"})", "schema at #: \"required\" must be a list of property names"},
      {R"({"enum": "a"})", "schema at #: \"enum\" must be an array"},
      {R"({"anyOf": []})", "schema at #: \"anyOf\" must be a list of schemas, and not empty"},
      {R"({"properties": []})", "schema at #: \"properties\" must be an object"},
      {R"({"$defs": 1})", "schema at #: \"$defs\" must be an object"},
      {R"({"uniqueItems": 1})", "schema at #: \"uniqueItems\" must be a boolean"},
      {R"({"pattern": 1})", "schema at #: \"pattern\" must be a string"},
      {R"x({"pattern": "a(?=b)"})x", "schema at #: \"pattern\" a(?=b): lookahead is not supported"},
      {R"({"patternProperties": {"(": true}})", "schema at #: \"patternProperties\" (: a group is not closed"},
      {R"({"items": [{}]})",
       "schema at #: \"items\" must be a schema; a list of schemas is \"prefixItems\", or draft-07 named in "
       "\"$schema\""},
      {R"({"not": 1})", "schema at #: \"not\" must be a schema: an object or a boolean"},
      {R"({"$id": 1})", "schema at #: \"$id\" must be a string"},
      {R"({"$id": "a#b"})", "schema at #: \"$id\" must not have a fragment; \"$anchor\" names a place"},
      {R"({"$defs": {"a/b": {"$anchor": "x"}, "c": {"$anchor": "x"}}})",
       "schema at #/$defs/c: another schema has the anchor x too"},
      {R"({"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}})", "schema at #/$defs/b: another schema has the $id x too"},
      {R"({"properties": {"a": 1}})", "schema at #/properties/a: must be an object or a boolean"},
      {"1", "schema at #: must be an object or a boolean"},
  };
  for (const auto& [schema, message] : faults)
    EXPECT_EQ(refusal(schema).message(), message) << schema;
}

TEST(SchemaCompile, FindsFaultsInPartsNothingRefersTo) {
  EXPECT_EQ(refusal(R"({"$defs": {"unused": {"type": 1}}})").kind(), ErrorKind::invalid);
}

TEST(SchemaCompile, KeepsNothingOfTheDocument) {
  std::shared_ptr<const Schema> schema;
  {
    boost::json::monotonic_resource memory;
    const auto document = boost::json::parse(
        R"({"properties": {"a": {"enum": ["one long enough to be on the heap", [1, {"x": 2}]]}}, "required": ["a"]})",
        &memory);
    schema = *Schema::compile(document);
  }
  EXPECT_TRUE(accepts(schema, R"({"a": [1.0, {"x": 2}]})"));
  EXPECT_FALSE(accepts(schema, R"({"a": "another"})"));
}

// SEC-04
TEST(SchemaCompile, BoundsWhatASchemaMayCost) {
  const auto limited = [](auto change) {
    SchemaOptions options;
    change(options.limits);
    return options;
  };
  const std::string_view schema = R"({"properties": {"a": {"pattern": "a"}, "b": {"pattern": "b"}}})";
  const auto taken = Schema::compile(boost::json::parse(schema));
  ASSERT_TRUE(taken);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.bytes = 20; })).kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.values = 5; })).kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.depth = 3; })).kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.subschemas = 2; })).kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.patterns = 1; })).kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.pattern_instructions = 5; })).kind(),
            ErrorKind::too_large);
  EXPECT_EQ(refusal(schema, limited([](auto& limits) { limits.depth = 3; })).message(),
            "the nesting of a schema is over the limit of 3");
}

// SEC-04
TEST(SchemaCompile, CountsDocumentsReferredTo) {
  SchemaOptions options;
  options.documents.emplace("http://example.com/large", boost::json::parse(R"({"enum": [1, 2, 3, 4, 5, 6, 7, 8]})"));
  options.limits.values = 8;
  EXPECT_EQ(refusal(R"({"$ref": "http://example.com/large"})", options).kind(), ErrorKind::too_large);
}

// SEC-04
TEST(SchemaCompile, RefusesIdsThatWouldMultiply) {
  EXPECT_EQ(refusal(R"({"$id": "http://a/)" + std::string(5000, 'x') + "\"}").kind(), ErrorKind::too_large);
  EXPECT_EQ(refusal(R"({"$ref": "http://a/)" + std::string(5000, 'x') + "\"}").kind(), ErrorKind::too_large);
  // Short ones below a long one are long when they are resolved.
  std::string many = R"({"$id": "http://a/)" + std::string(4000, 'x') + R"(/", "$defs": {)";
  for (int i = 0; i < 1000; ++i)
    many += fmt::format(R"({}"{}": {{"$id": "{}"}})", i == 0 ? "" : ",", i, i);
  EXPECT_EQ(refusal(many + "}}").kind(), ErrorKind::too_large);
}

}  // namespace
}  // namespace proteus::json
