#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// SES-22
TEST_P(StoreContract, KeepsToolSessionsAsTheyWerePut) {
  EXPECT_THAT(get(store().tool_sessions()), IsEmpty());
  ToolSessionRecord plain = session("a");
  plain.context.clear();
  plain.secrets.clear();
  get(store().write({PutToolSession{session("b")}, PutToolSession{plain}}));
  EXPECT_THAT(get(store().tool_sessions()), ElementsAre(plain, session("b")));
  ToolSessionRecord changed = session("b");
  changed.user_id = R"("eve")";
  get(store().write({PutToolSession{changed}}));
  EXPECT_THAT(get(store().tool_sessions()), ElementsAre(plain, changed));
}

TEST_P(StoreContract, KeepsTheToolsOfEachSessionApart) {
  get(store().write({PutSessionTool{tool("b", "x")}, PutSessionTool{tool("a", "y")}, PutSessionTool{tool("a", "x")}}));
  EXPECT_THAT(get(store().session_tools()), ElementsAre(tool("a", "x"), tool("a", "y"), tool("b", "x")));
  SessionToolRecord changed = tool("a", "x");
  changed.definition = R"({"name":"x","title":"X"})";
  changed.secrets.clear();
  get(store().write({PutSessionTool{changed}, RemoveSessionTool{"a", "y"}, RemoveSessionTool{"a", "unknown"}}));
  EXPECT_THAT(get(store().session_tools()), ElementsAre(changed, tool("b", "x")));
}

// SES-16
TEST_P(StoreContract, RemovesASessionWithAllOfItsTools) {
  get(store().write({PutToolSession{session("a")}, PutSessionTool{tool("a", "x")}, PutToolSession{session("b")},
                     PutSessionTool{tool("b", "x")}}));
  get(store().write({RemoveToolSession{"a"}}));
  get(store().write({RemoveToolSession{"a"}}));
  EXPECT_THAT(get(store().tool_sessions()), ElementsAre(session("b")));
  EXPECT_THAT(get(store().session_tools()), ElementsAre(tool("b", "x")));
}

// SES-17
TEST_P(StoreContract, KeepsWhenASessionWasLastUsed) {
  get(store().write({PutToolSession{session("a")}}));
  get(store().write({TouchToolSession{"a", at(9)}, TouchToolSession{"unknown", at(9)}}));
  // Another process may report an earlier use later.
  get(store().write({TouchToolSession{"a", at(8)}}));
  ToolSessionRecord touched = session("a");
  touched.last_used_at = at(9);
  EXPECT_THAT(get(store().tool_sessions()), ElementsAre(touched));
}

TEST_P(StoreContract, RefusesToLoseTheSecretsOfASession) {
  ToolSessionRecord unread = session("a");
  unread.secrets_fault = "another pepper";
  SessionToolRecord unread_tool = tool("a", "x");
  unread_tool.secrets_fault = "another pepper";
  EXPECT_FALSE(run(store().write({PutToolSession{unread}})));
  EXPECT_FALSE(run(store().write({PutSessionTool{unread_tool}})));
  EXPECT_FALSE(run(store().write({PutToolSession{session("")}})));
  EXPECT_FALSE(run(store().write({RemoveSessionTool{"a", ""}})));
  EXPECT_THAT(get(store().tool_sessions()), IsEmpty());
}

// SES-22
TEST_P(DurableStoreContract, HasToolSessionsAfterARestart) {
  get(store().write({PutToolSession{session("a")}, PutSessionTool{tool("a", "x")}}));
  reopen();
  EXPECT_THAT(get(store().tool_sessions()), ElementsAre(session("a")));
  EXPECT_THAT(get(store().session_tools()), ElementsAre(tool("a", "x")));
}

}  // namespace
}  // namespace proteus::store::test
