// Runs the official JSON Schema test suite: all required tests, which are the files directly in the folder of a draft,
// and some optional ones.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "json/schema/schema.hpp"

namespace proteus::json {
namespace {

namespace fs = std::filesystem;

fs::path suite() {
  if (const char* place = std::getenv("PROTEUS_JSON_SCHEMA_SUITE")) return place;
  return fs::path(PROTEUS_SOURCE_DIR) / "../shared/data/json-schema";
}

boost::json::value read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return boost::json::parse(text.str());
}

// Passes each remote document in under the URI from which the suite says it is served.
const SchemaOptions& options(Draft draft) {
  static const SchemaOptions common = [] {
    SchemaOptions made;
    const fs::path remotes = suite() / "remotes";
    for (const auto& entry : fs::recursive_directory_iterator(remotes)) {
      if (entry.path().extension() != ".json") continue;
      made.documents.emplace("http://localhost:1234/" + fs::relative(entry.path(), remotes).generic_string(),
                             read(entry.path()));
    }
    return made;
  }();
  static const SchemaOptions old = [] {
    SchemaOptions made = common;
    made.default_draft = Draft::draft7;
    return made;
  }();
  return draft == Draft::draft7 ? old : common;
}

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const std::string draft : {"draft2020-12", "draft7"}) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(suite() / "tests" / draft, missing)) {
      if (entry.path().extension() == ".json") found.push_back(draft + "/" + entry.path().stem().string());
    }
  }
  std::ranges::sort(found);
  return found;
}

void run(const std::string& file, Draft draft) {
  for (const auto& group : read(suite() / "tests" / (file + ".json")).as_array()) {
    SCOPED_TRACE(boost::json::serialize(group.at("description")));
    const auto schema = Schema::compile(group.at("schema"), options(draft));
    if (!schema) {
      ADD_FAILURE() << schema.error().message();
      continue;
    }
    for (const auto& test : group.at("tests").as_array()) {
      const bool valid = test.at("valid").as_bool();
      const auto& instance = test.at("data");
      const Validation validation = (*schema)->validate(instance);
      EXPECT_EQ(validation.ok(), valid) << test.at("description") << ": " << validation.text();
      EXPECT_EQ((*schema)->accepts(instance), valid) << test.at("description");
    }
  }
}

class JsonSchemaSuite : public testing::TestWithParam<std::string> {};

TEST_P(JsonSchemaSuite, Agrees) {
  run(GetParam(), GetParam().starts_with("draft7") ? Draft::draft7 : Draft::draft2020_12);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JsonSchemaSuite);
INSTANTIATE_TEST_SUITE_P(Required, JsonSchemaSuite, testing::ValuesIn(files()), test_name);

TEST(JsonSchemaSuitePresence, BothDraftsAreThere) {
  if (!fs::exists(suite())) GTEST_SKIP() << "no test suite at " << suite();
  EXPECT_GE(files().size(), 80U);
}

// The optional tests that Proteus should pass.
class JsonSchemaOptional : public testing::TestWithParam<std::string> {};

TEST_P(JsonSchemaOptional, Agrees) {
  if (!fs::exists(suite())) GTEST_SKIP() << "no test suite at " << suite();
  const std::string& file = GetParam();
  run(file, file.starts_with("draft7") ? Draft::draft7 : Draft::draft2020_12);
}

INSTANTIATE_TEST_SUITE_P(Optional, JsonSchemaOptional,
                         testing::Values("draft2020-12/optional/anchor", "draft2020-12/optional/bignum",
                                         "draft2020-12/optional/dependencies-compatibility",
                                         "draft2020-12/optional/dynamicRef", "draft2020-12/optional/ecmascript-regex",
                                         "draft2020-12/optional/float-overflow", "draft2020-12/optional/id",
                                         "draft2020-12/optional/no-schema", "draft2020-12/optional/non-bmp-regex",
                                         "draft2020-12/optional/refOfUnknownKeyword",
                                         "draft2020-12/optional/unknownKeyword", "draft7/optional/bignum",
                                         "draft7/optional/ecmascript-regex", "draft7/optional/float-overflow",
                                         "draft7/optional/id", "draft7/optional/non-bmp-regex",
                                         "draft7/optional/unknownKeyword"),
                         test_name);

}  // namespace
}  // namespace proteus::json
