#include "bank/accounts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace bank {

using proteus::Result;
namespace errors = proteus::errors;

namespace {

std::unexpected<proteus::Error> not_signed_in() {
  return std::unexpected(errors::forbidden("Enter the PIN first, with pin_authentication."));
}

Result<> check_amount(std::int64_t cents, std::int64_t available) {
  if (cents <= 0) return std::unexpected(errors::invalid("The amount must be above zero."));
  if (cents > available) {
    return std::unexpected(errors::invalid(fmt::format("The account has only {} cents.", available)));
  }
  return {};
}

}  // namespace

Result<Entered> Accounts::enter_pin(std::string_view customer, std::string_view pin) {
  const std::scoped_lock lock(mutex_);
  auto found = accounts_.find(customer);
  if (found == accounts_.end()) {
    if (!make_room()) return std::unexpected(errors::exhausted("The bank takes no more customers for now."));
    found = accounts_.emplace(customer, Account{}).first;
  }
  Account& account = found->second;
  account.seen = ++now_;
  if (is_locked(account)) return Entered::locked;
  if (pin == kPin) {
    account.wrong_pins = 0;
    account.signed_in = true;
    return Entered::accepted;
  }
  ++account.wrong_pins;
  if (!is_locked(account)) return Entered::refused;
  account.signed_in = false;
  return Entered::locked;
}

bool Accounts::make_room() {
  if (accounts_.size() < limits_.customers) return true;
  auto oldest = accounts_.end();
  for (auto at = accounts_.begin(); at != accounts_.end(); ++at) {
    if (is_locked(at->second)) continue;
    if (oldest == accounts_.end() || at->second.seen < oldest->second.seen) oldest = at;
  }
  if (oldest == accounts_.end()) return false;
  accounts_.erase(oldest);
  return true;
}

bool Accounts::signed_in(std::string_view customer) const {
  const std::scoped_lock lock(mutex_);
  const auto found = accounts_.find(customer);
  return found != accounts_.end() && found->second.signed_in;
}

void Accounts::sign_out(std::string_view customer) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = accounts_.find(customer); found != accounts_.end()) found->second.signed_in = false;
}

Accounts::Account* Accounts::find_signed_in(std::string_view customer) {
  const auto found = accounts_.find(customer);
  if (found == accounts_.end() || !found->second.signed_in) return nullptr;
  found->second.seen = ++now_;
  return &found->second;
}

Result<Statement> Accounts::statement(std::string_view customer) {
  const std::scoped_lock lock(mutex_);
  const Account* account = find_signed_in(customer);
  if (account == nullptr) return not_signed_in();
  return Statement{account->cents, account->invested_cents, {account->bookings.begin(), account->bookings.end()}};
}

Result<> Accounts::transfer(std::string_view from, std::string_view to, std::int64_t cents) {
  const std::scoped_lock lock(mutex_);
  Account* payer = find_signed_in(from);
  if (payer == nullptr) return not_signed_in();
  const auto payee = accounts_.find(to);
  if (payee == accounts_.end()) return std::unexpected(errors::not_found(fmt::format("{} has no account here.", to)));
  if (payer == &payee->second) return std::unexpected(errors::invalid("That is the same account."));
  if (auto checked = check_amount(cents, payer->cents); !checked) return checked;
  book(*payer, -cents, fmt::format("to {}", to));
  book(payee->second, cents, fmt::format("from {}", from));
  return {};
}

Result<> Accounts::invest(std::string_view customer, std::int64_t cents, std::string_view fund) {
  const std::scoped_lock lock(mutex_);
  Account* account = find_signed_in(customer);
  if (account == nullptr) return not_signed_in();
  if (auto checked = check_amount(cents, account->cents); !checked) return checked;
  book(*account, -cents, fmt::format("invested in {}", fund));
  account->invested_cents += cents;
  return {};
}

void Accounts::book(Account& account, std::int64_t cents, std::string text) const {
  account.cents += cents;
  account.bookings.push_front({cents, std::move(text)});
  if (account.bookings.size() > limits_.bookings) account.bookings.pop_back();
}

}  // namespace bank
