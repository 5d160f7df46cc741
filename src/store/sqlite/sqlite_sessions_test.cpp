#include <gmock/gmock.h>

#include "store/sql/session_rows.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SqliteSessionsTest : public testing::Test {
 protected:
  SqliteSessionsTest() { bench_.reopen(); }

  void put(Write write) {
    Writes writes;
    writes.push_back(std::move(write));
    runner_.get(store().write(std::move(writes)));
  }
  SqliteStore& store() { return bench_.store(); }

  Runner runner_;
  SqliteFixture bench_;
};

// SEC-02
TEST_F(SqliteSessionsTest, WritesNoTokenInPlainTextAndNoHashOfOne) {
  ToolSessionRecord record = session("sess_42");
  record.secrets = R"({"user_token":"swordfish-0123456789"})";
  SessionToolRecord with_secret = tool("sess_42", "run_query");
  with_secret.secrets = R"({"fixed_params":{"key":"tunafish-0123456789"}})";
  put(PutToolSession{record});
  put(PutSessionTool{with_secret});
  bench_.close();
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(bench_.file().parent_path()))
    all += bytes_of_file(entry.path());
  EXPECT_THAT(all, HasSubstr("sess_42"));
  EXPECT_THAT(all, HasSubstr("run_query"));
  EXPECT_THAT(all, Not(HasSubstr("swordfish")));
  EXPECT_THAT(all, Not(HasSubstr("tunafish")));
}

// SEC-09
TEST_F(SqliteSessionsTest, SealsTokensAndToolsAnewWithANewPepper) {
  put(PutToolSession{session("a")});
  put(PutSessionTool{tool("a", "x")});
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"), pepper("pepper"))));
  EXPECT_THAT(runner_.get(store().tool_sessions()), ElementsAre(session("a")));
  EXPECT_THAT(runner_.get(store().session_tools()), ElementsAre(tool("a", "x")));
  put(PutToolSession{session("b")});
  EXPECT_EQ(runner_.get(store().reseal()), 2U);
  EXPECT_EQ(runner_.get(store().reseal()), 0U);
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"))));
  EXPECT_THAT(runner_.get(store().tool_sessions()), ElementsAre(session("a"), session("b")));
  EXPECT_THAT(runner_.get(store().session_tools()), ElementsAre(tool("a", "x")));
}

TEST_F(SqliteSessionsTest, OpensNoSecretThatWasMovedToAnotherSession) {
  put(PutToolSession{session("a")});
  put(PutToolSession{session("b")});
  put(PutSessionTool{tool("a", "x")});
  ASSERT_TRUE(
      bench_.other().execute("UPDATE tool_sessions SET secrets = (SELECT secrets FROM tool_sessions WHERE id = 'b')"
                             " WHERE id = 'a'; UPDATE session_tools SET session = 'b'"));
  const auto sessions = runner_.get(store().tool_sessions());
  ASSERT_THAT(sessions, SizeIs(2));
  EXPECT_THAT(sessions[0].secrets, IsEmpty());
  EXPECT_THAT(sessions[0].secrets_fault, HasSubstr("tool session a"));
  EXPECT_EQ(sessions[1], session("b"));
  EXPECT_THAT(runner_.get(store().session_tools()).front().secrets_fault, HasSubstr("tool x"));
}

}  // namespace
}  // namespace proteus::store::test
