#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include <proteus/server.hpp>

#include "bank/accounts.hpp"
#include "bank/customers.hpp"

namespace bank {

// A bank that offers everyone two tools, and those who have entered their PIN some more. The result that changes what a
// customer may use says so with `refresh_capabilities` in its `_meta`.
class Bank {
 public:
  // Adds to the server what is offered. Both outlive the server's threads.
  Bank(proteus::server::Server& server, Identity identity);
  Bank(const Bank&) = delete;
  Bank& operator=(const Bank&) = delete;

  Accounts& accounts() { return accounts_; }
  std::string customer(const proteus::server::Context& context) const { return customer_of(context, identity_); }
  // A result after which this customer may use other tools than before.
  proteus::server::ToolResult changed(const std::string& customer, proteus::server::ToolResult result);

 private:
  proteus::server::Outcome<proteus::server::ToolResult> hand_off(const proteus::server::Context& context);
  proteus::server::Outcome<proteus::server::ToolResult> authenticate(const proteus::server::Context& context);
  void add_open_tools();
  void show_to_everyone();

  proteus::server::Server& server_;
  const Identity identity_;
  Accounts accounts_;
  std::atomic<std::uint64_t> last_ticket_ = 0;

  std::mutex shown_mutex_;
  bool shown_ = false;  // where all are one: whether the account tools are there
};

// What is there for those who have signed in. Where `visible` is empty it is there for all.
void add_account_tools(proteus::server::Server& server, Bank& bank, const proteus::server::Visibility& visible);
void remove_account_tools(proteus::server::Server& server);

}  // namespace bank
