#include "client/message/received.hpp"

#include <gtest/gtest.h>

namespace proteus::client {
namespace {

constexpr std::string_view kOne = R"({"jsonrpc":"2.0","method":"notifications/a"})";

TEST(Received, ReadsTheMessagesOfABatch) {
  const auto messages = scan_messages(fmt::format("[{}, {} ]", kOne, kOne), {}, mcp::Version::v2025_03_26);
  ASSERT_TRUE(messages) << messages.error().message();
  EXPECT_EQ(messages->size(), 2U);
}

// PRO-16
TEST(Received, ReadsNoBatchThatIsNotJson) {
  for (const auto* text : {"[{0},{0}", "[{0}] and more", "[{0} {0}]", "[{0},]", "["}) {
    const auto messages = scan_messages(fmt::format(fmt::runtime(text), "{}"), {}, mcp::Version::v2025_03_26);
    ASSERT_FALSE(messages) << text;
    EXPECT_EQ(messages.error().kind(), ErrorKind::protocol) << text;
  }
}

}  // namespace
}  // namespace proteus::client
