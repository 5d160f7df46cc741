#include "gateway/connections/upstream_sessions_of_client.hpp"

#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

providers::UpstreamSettings notes_at(std::string url) {
  providers::UpstreamSettings settings;
  settings.name = "notes";
  settings.url = std::move(url);
  return settings;
}

// The state of a client session that another process takes over.
std::string left_state() {
  UpstreamSessionsOfClient left;
  left.note(notes_at("https://a.example/mcp"), client::ResumedSession{{"session-1", mcp::kNewestLegacy}, "{}"});
  return left.state().value();
}

// REP-10
TEST(UpstreamSessionsOfClient, AreContinuedOnceByAnotherProcess) {
  UpstreamSessionsOfClient taken;
  taken.restore(left_state());
  const auto session = taken.take_left(notes_at("https://a.example/mcp"));
  ASSERT_TRUE(session);
  EXPECT_EQ(session->session.id, "session-1");
  EXPECT_FALSE(taken.take_left(notes_at("https://a.example/mcp")));
}

TEST(UpstreamSessionsOfClient, AreTheNewestOnes) {
  UpstreamSessionsOfClient taken;
  const auto notes = notes_at("https://a.example/mcp");
  taken.note(notes, client::ResumedSession{{"session-2", mcp::kNewestLegacy}, "{}"});
  taken.restore(left_state());
  EXPECT_FALSE(taken.take_left(notes));
  EXPECT_NE(taken.state().value().find("session-2"), std::string::npos);
}

// The id of a session is as good as a credential.
TEST(UpstreamSessionsOfClient, AreNotContinuedAtAnotherUrl) {
  UpstreamSessionsOfClient taken;
  taken.restore(left_state());
  EXPECT_FALSE(taken.take_left(notes_at("https://b.example/mcp")));
}

}  // namespace
}  // namespace proteus::gateway
