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

// Everybody's.
inline constexpr std::string_view kPin = "1234";

struct Booking {
  std::int64_t cents = 0;  // below zero: went away
  std::string text;
};

struct Statement {
  std::int64_t cents = 0;
  std::int64_t invested_cents = 0;
  std::vector<Booking> bookings;  // the newest first, and not all there ever were
};

enum class Entered : std::uint8_t { accepted, refused, locked };

struct AccountLimits {
  std::size_t customers = 10'000;
  std::size_t bookings = 50;  // of one customer
  unsigned wrong_pins = 3;    // in a row
};

// Who has signed in, and what they own. A customer comes to exist with the first PIN; where there are too many, the one
// that has not been seen for longest is forgotten, unless it is locked. Thread-safe.
class Accounts {
 public:
  explicit Accounts(AccountLimits limits = {}) : limits_(limits) {}

  // The right PIN signs in. Wrong ones in a row lock, which also signs out, and which no PIN undoes. Fails where there
  // is no room for another customer.
  proteus::Result<Entered> enter_pin(std::string_view customer, std::string_view pin);
  bool signed_in(std::string_view customer) const;
  void sign_out(std::string_view customer);

  // These fail where the customer is not signed in.
  proteus::Result<Statement> statement(std::string_view customer) const;
  // To one who has an account, of what there is.
  proteus::Result<> transfer(std::string_view from, std::string_view to, std::int64_t cents);
  proteus::Result<> invest(std::string_view customer, std::int64_t cents, std::string_view fund);

 private:
  struct Account {
    bool signed_in = false;
    unsigned wrong_pins = 0;
    std::int64_t cents = 100'000;
    std::int64_t invested_cents = 0;
    std::deque<Booking> bookings;  // the newest first
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
  std::uint64_t now_ = 0;  // counts what customers do
};

}  // namespace bank
