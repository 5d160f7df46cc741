#include "app/config/reference.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/read_config.hpp"
#include "app/config/sections.hpp"

namespace proteus::app {
namespace {

constexpr const char* kDocument = PROTEUS_SOURCE_DIR "/docs/configuration.md";
constexpr std::string_view kHeading = "\n## Reference\n";

std::string read_document() {
  std::ifstream file(kDocument);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_described(const std::vector<json::KeyInfo>& keys, const std::string& above) {
  for (const json::KeyInfo& key : keys) {
    const std::string name = above + key.name;
    EXPECT_FALSE(key.type.empty()) << name;
    EXPECT_THAT(key.meaning, ::testing::EndsWith(".")) << name;
    expect_described(key.keys, name + ".");
  }
}

// OPS-04
TEST(Reference, DescribesEveryKey) {
  const auto sections = sections_binding().describe();
  expect_described(sections, "");
  std::size_t rows = 0;
  for (const json::KeyInfo& section : sections)
    rows += section.keys.size();
  EXPECT_GE(rows, 70U);
}

// OPS-04. If PROTEUS_UPDATE_DOCS is set, the test rewrites the document.
TEST(Reference, IsWhatTheDocumentEndsWith) {
  std::string document = read_document();
  const auto heading = document.find(kHeading);
  ASSERT_NE(heading, std::string::npos) << kDocument;
  const auto begin = heading + kHeading.size();
  if (std::getenv("PROTEUS_UPDATE_DOCS") != nullptr) {
    document.replace(begin, std::string::npos, configuration_reference());
    std::ofstream(kDocument) << document;
  }
  EXPECT_EQ(document.substr(begin), configuration_reference());
}

TEST(Reference, IsPrecededByAnExampleThatWorks) {
  const std::string document = read_document();
  std::istringstream lines(document.substr(0, document.find(kHeading)));
  std::string toml;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```toml";
    } else if (inside) {
      toml += line + "\n";
    }
  }
  ASSERT_FALSE(toml.empty());
  const auto outcome =
      read_config({SourceFile{"configuration.md", toml}, {}}, {}, fixed_environment({}), Purpose::check);
  EXPECT_TRUE(outcome.config) << show(outcome.diagnostics.at(0));
}

}  // namespace
}  // namespace proteus::app
