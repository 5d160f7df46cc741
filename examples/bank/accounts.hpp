#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

namespace bank {

// The PIN of every customer.
inline constexpr std::string_view kPin = "1234";

struct Booking {
  std::int64_t cents = 0;  // negative if paid out
  std::string text;
};

struct Statement {
  std::int64_t cents = 0;
  std::int64_t invested_cents = 0;
  std::vector<Booking> bookings;  // newest first, only the last `AccountLimits::bookings`
};

enum class Entered : std::uint8_t { accepted, refused, locked };

struct AccountLimits {
  std::size_t customers = 10'000;
  std::size_t bookings = 50;  // kept per customer
  unsigned wrong_pins = 3;    // in a row
};

// The accounts of all customers, and who has signed in. An account is created when its customer first enters a PIN. If
// there are too many, the one whose customer has been inactive the longest is deleted; locked accounts are kept.
// Thread-safe.
class Accounts {
 public:
  explicit Accounts(AccountLimits limits = {}) : limits_(limits) {}

  // Signs in if the PIN is right. Too many wrong PINs in a row sign out and lock the account for good. Fails if there
  // is no room for another customer.
  proteus::Result<Entered> enter_pin(std::string_view customer, std::string_view pin);
  bool signed_in(std::string_view customer) const;
  void sign_out(std::string_view customer);

  // These three fail if the customer is not signed in.
  proteus::Result<Statement> statement(std::string_view customer);
  // Fails if `to` has no account, or `from` has less than `cents`.
  proteus::Result<> transfer(std::string_view from, std::string_view to, std::int64_t cents);
  proteus::Result<> invest(std::string_view customer, std::int64_t cents, std::string_view fund);

 private:
  struct Account {
    bool signed_in = false;
    unsigned wrong_pins = 0;
    std::int64_t cents = 100'000;
    std::int64_t invested_cents = 0;
    std::deque<Booking> bookings;  // newest first
    std::uint64_t seen = 0;
  };
  using Map = std::map<std::string, Account, std::less<>>;

  bool is_locked(const Account& account) const { return account.wrong_pins >= limits_.wrong_pins; }
  bool make_room();
  Account* find_signed_in(std::string_view customer);
  void book(Account& account, std::int64_t cents, std::string text) const;

  const AccountLimits limits_;
  mutable std::mutex mutex_;
  Map accounts_;
  std::uint64_t now_ = 0;  // counts the actions of customers, for `Account::seen`
};

}  // namespace bank
