#include <gtest/gtest.h>

#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

constexpr std::string_view kContent =
    R"({"content":[{"type":"text","text":"audio and resource_link"},)"
    R"({"type":"audio","data":"AAAA","mimeType":"audio/wav"},)"
    R"({"type":"resource_link","uri":"file:///a.pdf","name":"a \"quoted\"","description":"The report."}],"structuredContent":{"audio":1}})";

class OlderContent : public ::testing::Test {
 protected:
  OlderContent() : server({.name = "test", .version = "1"}) {
    server.add_raw_tool({.name = "mixed"}, [](Context&) -> Outcome<std::string> { return std::string(kContent); })
        .value();
    port = server.listen().value();
  }
  boost::json::array content(const char* version) const {
    return LegacyClient(port, version).call("1", "mixed").json().at("result").at("content").as_array();
  }

  Server server;
  std::uint16_t port = 0;
};

// PRO-22
TEST_F(OlderContent, IsWrittenOutForClientsThatWouldRefuseTheWholeResult) {
  const auto oldest = content("2024-11-05");
  ASSERT_EQ(oldest.size(), 3U);
  EXPECT_EQ(oldest[0].at("text"), "audio and resource_link");
  EXPECT_EQ(oldest[1],
            (boost::json::value{{"type", "text"}, {"text", "Audio (audio/wav), which this client cannot play"}}));
  EXPECT_EQ(oldest[2], (boost::json::value{{"type", "text"}, {"text", "a \"quoted\": file:///a.pdf\nThe report."}}));
  const auto old = content("2025-03-26");
  EXPECT_EQ(old[1].at("type"), "audio");
  EXPECT_EQ(old[2].at("type"), "text");
}

// PRO-13
TEST_F(OlderContent, IsLeftAsItIsForTheOthers) {
  for (const auto* const version : {"2025-06-18", "2025-11-25"}) {
    const auto same = content(version);
    EXPECT_EQ(same[1].at("type"), "audio") << version;
    EXPECT_EQ(same[2].at("type"), "resource_link") << version;
  }
}

}  // namespace
}  // namespace proteus::server
