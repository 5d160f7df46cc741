#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SealedRecord secret_record(std::string kind, std::string id, std::string text = R"({"token":"t"})") {
  return {.kind = std::move(kind), .id = std::move(id), .text = std::move(text), .updated_at = at(1), .fault = {}};
}

// SEC-02, UPC-08
TEST_P(StoreContract, KeepsSealedRecordsByKindAndId) {
  EXPECT_THAT(get(store().sealed("grant")), IsEmpty());
  get(store().write({PutSealed{secret_record("grant", "b")}, PutSealed{secret_record("grant", "a")},
                     PutSealed{secret_record("client", "a")}}));
  EXPECT_THAT(get(store().sealed("grant")), ElementsAre(secret_record("grant", "a"), secret_record("grant", "b")));
  EXPECT_THAT(get(store().sealed("client")), ElementsAre(secret_record("client", "a")));
  EXPECT_EQ(get(store().sealed_record("grant", "b")), secret_record("grant", "b"));
  EXPECT_EQ(get(store().sealed_record("client", "b")), std::nullopt);
  get(store().write(
      {PutSealed{secret_record("grant", "a", "{}")}, RemoveSealed{"grant", "b"}, RemoveSealed{"grant", "c"}}));
  EXPECT_THAT(get(store().sealed("grant")), ElementsAre(secret_record("grant", "a", "{}")));
}

TEST_P(StoreContract, RefusesASealedRecordThatCouldNotBeRead) {
  SealedRecord unread = secret_record("grant", "a");
  unread.fault = "another pepper";
  EXPECT_FALSE(run(store().write({PutSealed{unread}})));
  EXPECT_FALSE(run(store().write({PutSealed{secret_record("grant", "")}})));
  EXPECT_FALSE(run(store().write({PutSealed{secret_record("grant", "a", "")}})));
}

TEST_P(DurableStoreContract, HasSealedRecordsAfterARestart) {
  get(store().write({PutSealed{secret_record("grant", "a")}}));
  reopen();
  EXPECT_THAT(get(store().sealed("grant")), ElementsAre(secret_record("grant", "a")));
}

}  // namespace
}  // namespace proteus::store::test
