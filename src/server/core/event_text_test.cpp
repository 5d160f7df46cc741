#include "server/core/event_text.hpp"

#include <gtest/gtest.h>

namespace proteus::server {
namespace {

TEST(SseFrame, PutsAMessageOnOneLine) {
  EXPECT_EQ(sse_frame("{\"a\":1}"), "data: {\"a\":1}\n\n");
  EXPECT_EQ(sse_frame("{\n\"a\":\r1}"), "data: { \"a\": 1}\n\n");
}

TEST(SseFrame, BecomesWhatItFramesWhereThatHasRoom) {
  std::string message = "{\n\"method\":\"notifications/progress\"}";
  message.reserve(message.size() + kEventRoom);
  const char* const memory = message.data();
  std::string frames;
  append_sse_frame(frames, std::move(message));
  EXPECT_EQ(frames, "data: { \"method\":\"notifications/progress\"}\n\n");
  EXPECT_EQ(frames.data(), memory);
  frames += kEventBefore;
  EXPECT_EQ(frames.data(), memory) << "the beginning of the next one has room, too";
}

TEST(SseFrame, IsPutBehindOthers) {
  std::string frames = sse_frame("1");
  std::string message = "2";
  message.reserve(1'000);
  append_sse_frame(frames, std::move(message));
  append_sse_frame(frames, "3");
  EXPECT_EQ(frames, "data: 1\n\ndata: 2\n\ndata: 3\n\n");
}

}  // namespace
}  // namespace proteus::server
