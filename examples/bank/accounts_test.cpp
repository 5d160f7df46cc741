#include "bank/accounts.hpp"

#include <gtest/gtest.h>

#include "bank/customers.hpp"

namespace bank {
namespace {

TEST(Accounts, TheRightPinSignsInThatCustomerAndNoOther) {
  Accounts accounts;
  EXPECT_FALSE(accounts.signed_in("alice"));
  EXPECT_EQ(accounts.enter_pin("alice", kPin).value(), Entered::accepted);
  EXPECT_TRUE(accounts.signed_in("alice"));
  EXPECT_FALSE(accounts.signed_in("bob"));
  EXPECT_TRUE(accounts.statement("alice"));
  EXPECT_FALSE(accounts.statement("bob"));
  accounts.sign_out("alice");
  EXPECT_FALSE(accounts.statement("alice"));
}

TEST(Accounts, ThreeWrongPinsInARowLockAndNoPinUndoesThat) {
  Accounts accounts;
  EXPECT_EQ(accounts.enter_pin("alice", "0000").value(), Entered::refused);
  EXPECT_EQ(accounts.enter_pin("alice", "0000").value(), Entered::refused);
  EXPECT_EQ(accounts.enter_pin("alice", kPin).value(), Entered::accepted);
  EXPECT_EQ(accounts.enter_pin("alice", "0000").value(), Entered::refused);
  EXPECT_TRUE(accounts.signed_in("alice"));
  EXPECT_EQ(accounts.enter_pin("alice", "0000").value(), Entered::refused);
  EXPECT_EQ(accounts.enter_pin("alice", "0000").value(), Entered::locked);
  EXPECT_FALSE(accounts.signed_in("alice"));
  EXPECT_EQ(accounts.enter_pin("alice", kPin).value(), Entered::locked);
  EXPECT_EQ(accounts.enter_pin("bob", kPin).value(), Entered::accepted);
}

TEST(Accounts, MoneyMovesWholeOrNotAtAll) {
  Accounts accounts;
  ASSERT_TRUE(accounts.enter_pin("alice", kPin));
  EXPECT_FALSE(accounts.transfer("alice", "bob", 1));
  ASSERT_TRUE(accounts.enter_pin("bob", kPin));
  EXPECT_FALSE(accounts.transfer("alice", "alice", 1));
  EXPECT_FALSE(accounts.transfer("alice", "bob", 0));
  EXPECT_FALSE(accounts.transfer("alice", "bob", 100'001));
  EXPECT_FALSE(accounts.transfer("carol", "bob", 1));
  EXPECT_EQ(accounts.statement("alice")->cents + accounts.statement("bob")->cents, 200'000);
  EXPECT_TRUE(accounts.transfer("alice", "bob", 2'500));
  EXPECT_TRUE(accounts.invest("bob", 500, "bonds"));
  EXPECT_EQ(accounts.statement("alice")->cents, 97'500);
  EXPECT_EQ(accounts.statement("bob")->cents, 102'000);
  EXPECT_EQ(accounts.statement("bob")->invested_cents, 500);
  EXPECT_EQ(accounts.statement("bob")->bookings.front().text, "invested in bonds");
}

TEST(Accounts, KeepOnlySoManyCustomersAndBookings) {
  Accounts accounts({.customers = 3, .bookings = 2});
  ASSERT_TRUE(accounts.enter_pin("alice", kPin));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(accounts.enter_pin("locked", "0000"));
  ASSERT_TRUE(accounts.enter_pin("bob", kPin));
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(accounts.transfer("alice", "bob", 1));
  EXPECT_EQ(accounts.statement("alice")->bookings.size(), 2U);
  ASSERT_TRUE(accounts.enter_pin("carol", kPin));
  EXPECT_FALSE(accounts.signed_in("bob"));  // inactive the longest
  EXPECT_TRUE(accounts.signed_in("alice"));
  EXPECT_EQ(accounts.enter_pin("locked", kPin).value(), Entered::locked);
}

TEST(Accounts, OfCustomersWhoOnlyReadAreKept) {
  Accounts accounts({.customers = 2});
  ASSERT_TRUE(accounts.enter_pin("reader", kPin));
  ASSERT_TRUE(accounts.enter_pin("idle", kPin));
  EXPECT_TRUE(accounts.statement("reader"));
  ASSERT_TRUE(accounts.enter_pin("new", kPin));
  EXPECT_TRUE(accounts.signed_in("reader"));
  EXPECT_FALSE(accounts.signed_in("idle"));
}

TEST(Accounts, HaveNoRoomWhereAllAreLocked) {
  Accounts accounts({.customers = 1, .wrong_pins = 1});
  EXPECT_EQ(accounts.enter_pin("alice", "0000").value(), Entered::locked);
  EXPECT_FALSE(accounts.enter_pin("bob", kPin));
}

TEST(Customers, AreKnownByTheirTokens) {
  const auto tokens = parse_tokens("alice=one,bob=two=2").value();
  EXPECT_EQ(customer_with(tokens, "Bearer one").value(), "alice");
  EXPECT_EQ(customer_with(tokens, "bearer two=2").value(), "bob");
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer three", "Basic one", "one"})
    EXPECT_FALSE(customer_with(tokens, wrong)) << wrong;
  for (const char* wrong : {"", "alice", "=one", "alice=", "alice=one,", "alice=one,bob=one"})
    EXPECT_FALSE(parse_tokens(wrong)) << wrong;
}

}  // namespace
}  // namespace bank
