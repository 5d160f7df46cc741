#include "server/core/listen_stream.hpp"

#include <gtest/gtest.h>

namespace proteus::server {
namespace {

// PRO-05: a draining server may end a stream twice.
TEST(ListenStream, EndsOnce) {
  std::vector<std::string> sent;
  int closed = 0;
  ListenStream stream(
      {}, {.tools = true, .uris = {}}, "7", {mcp::Era::modern, {}, {}},
      [&](std::string message) { sent.push_back(message); }, [&] { ++closed; });
  stream.end();
  ASSERT_EQ(sent.size(), 3U) << "acknowledged, cancelled and the result";
  stream.end();
  stream.list_changed(mcp::Method::tools_changed);
  stream.acknowledge();
  EXPECT_EQ(sent.size(), 3U);
  EXPECT_EQ(closed, 1);
}

}  // namespace
}  // namespace proteus::server
