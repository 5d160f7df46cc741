#include <gmock/gmock.h>

#include "store/sql/sealed_rows.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::store::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SqliteSealedTest : public testing::Test {
 protected:
  SqliteSealedTest() { bench_.reopen(); }

  void put(std::string id, std::string text) {
    Writes writes;
    writes.emplace_back(
        PutSealed{{.kind = "grant", .id = std::move(id), .text = std::move(text), .updated_at = at(1), .fault = {}}});
    runner_.get(store().write(std::move(writes)));
  }
  SqliteStore& store() { return bench_.store(); }

  Runner runner_;
  SqliteFixture bench_;
};

// SEC-02, UPC-08
TEST_F(SqliteSealedTest, WritesNothingOfARecordInPlainText) {
  put("an-id", R"({"owner":"alice-of-tests","refresh_token":"0123456789abcdef"})");
  bench_.close();
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator(bench_.file().parent_path()))
    all += bytes_of_file(entry.path());
  EXPECT_THAT(all, HasSubstr("an-id"));
  EXPECT_THAT(all, Not(HasSubstr("0123456789abcdef")));
  EXPECT_THAT(all, Not(HasSubstr("alice-of-tests")));
}

// SEC-09
TEST_F(SqliteSealedTest, SealsRecordsAnewWithANewPepper) {
  put("a", "{}");
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"), pepper("pepper"))));
  EXPECT_EQ(runner_.get(store().reseal()), 1U);
  EXPECT_EQ(runner_.get(store().reseal()), 0U);
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"))));
  const auto records = runner_.get(store().sealed("grant"));
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].text, "{}");
}

TEST_F(SqliteSealedTest, OpensNoRecordThatWasMovedToAnotherId) {
  put("a", R"({"of":"a"})");
  put("b", R"({"of":"b"})");
  ASSERT_TRUE(bench_.other().execute(
      "UPDATE sealed_records SET sealed = (SELECT sealed FROM sealed_records WHERE id = 'b') WHERE id = 'a'"));
  const auto records = runner_.get(store().sealed("grant"));
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_THAT(records[0].text, IsEmpty());
  EXPECT_THAT(records[0].fault, Not(IsEmpty()));
  EXPECT_EQ(records[1].text, R"({"of":"b"})");
}

}  // namespace
}  // namespace proteus::store::test
