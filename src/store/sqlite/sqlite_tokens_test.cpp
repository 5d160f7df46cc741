#include <gmock/gmock.h>

#include "store/sql/token_rows.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SqliteTokensTest : public testing::Test {
 protected:
  SqliteTokensTest() { bench_.reopen(); }

  void put(TokenRecord record) {
    Writes writes;
    writes.emplace_back(PutToken{std::move(record)});
    runner_.get(store().write(std::move(writes)));
  }
  SqliteStore& store() { return bench_.store(); }

  Runner runner_;
  SqliteFixture bench_;
};

// SEC-02, OAU-14: somebody who has the file cannot test whether it contains a given token.
TEST_F(SqliteTokensTest, WritesNoHashInPlainText) {
  TokenRecord record = token("ci-of-tests");
  record.secrets = R"({"current":"0123456789abcdef"})";
  put(record);
  bench_.close();
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(bench_.file().parent_path()))
    all += bytes_of_file(entry.path());
  EXPECT_THAT(all, HasSubstr("ci-of-tests"));
  EXPECT_THAT(all, Not(HasSubstr("0123456789abcdef")));
}

// SEC-09
TEST_F(SqliteTokensTest, SealsHashesAnewWithANewPepper) {
  put(token("a"));
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"), pepper("pepper"))));
  EXPECT_THAT(runner_.get(store().tokens()), ElementsAre(token("a")));
  EXPECT_EQ(runner_.get(store().reseal()), 1U);
  EXPECT_EQ(runner_.get(store().reseal()), 0U);
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"))));
  EXPECT_THAT(runner_.get(store().tokens()), ElementsAre(token("a")));
}

TEST_F(SqliteTokensTest, OpensNoHashThatWasMovedToAnotherToken) {
  put(token("a"));
  put(token("b"));
  ASSERT_TRUE(bench_.other().execute(
      "UPDATE tokens SET secrets = (SELECT secrets FROM tokens WHERE name = 'b') WHERE name = 'a'"));
  const auto tokens = runner_.get(store().tokens());
  ASSERT_THAT(tokens, SizeIs(2));
  EXPECT_THAT(tokens[0].secrets, IsEmpty());
  EXPECT_THAT(tokens[0].secrets_fault, HasSubstr("token a"));
  EXPECT_EQ(tokens[1], token("b"));
}

}  // namespace
}  // namespace proteus::store::test
