#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// OAU-14
TEST_P(StoreContract, KeepsTokensAsTheyWerePut) {
  EXPECT_THAT(get(store().tokens()), IsEmpty());
  TokenRecord unlimited = token("a");
  unlimited.expires_at = unlimited.last_used_at = {};
  get(store().write({PutToken{token("b")}, PutToken{unlimited}}));
  EXPECT_THAT(get(store().tokens()), ElementsAre(unlimited, token("b")));
  TokenRecord rotated = token("b");
  rotated.secrets = R"({"current":"new","previous":"old"})";
  rotated.previous_until = at(50);
  get(store().write({PutToken{rotated}, RemoveToken{"a"}, RemoveToken{"unknown"}}));
  EXPECT_THAT(get(store().tokens()), ElementsAre(rotated));
}

TEST_P(StoreContract, KeepsWhenATokenWasLastUsed) {
  get(store().write({PutToken{token("a")}}));
  get(store().write({TouchToken{"a", at(9)}, TouchToken{"unknown", at(9)}}));
  // Another process may report an earlier use later.
  get(store().write({TouchToken{"a", at(8)}}));
  TokenRecord touched = token("a");
  touched.last_used_at = at(9);
  EXPECT_THAT(get(store().tokens()), ElementsAre(touched));
}

TEST_P(StoreContract, RefusesATokenWithoutANameOrHashes) {
  TokenRecord unread = token("a");
  unread.secrets_fault = "another pepper";
  TokenRecord empty = token("a");
  empty.secrets.clear();
  EXPECT_FALSE(run(store().write({PutToken{unread}})));
  EXPECT_FALSE(run(store().write({PutToken{empty}})));
  EXPECT_FALSE(run(store().write({PutToken{token("")}})));
  EXPECT_FALSE(run(store().write({RemoveToken{""}})));
  EXPECT_THAT(get(store().tokens()), IsEmpty());
}

// OAU-14
TEST_P(DurableStoreContract, HasTokensAfterARestart) {
  get(store().write({PutToken{token("a")}}));
  reopen();
  EXPECT_THAT(get(store().tokens()), ElementsAre(token("a")));
}

}  // namespace
}  // namespace proteus::store::test
