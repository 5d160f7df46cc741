#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include <proteus/server.hpp>

#include "bank/accounts.hpp"
#include "bank/customers.hpp"

namespace bank {

// A bank that offers two tools to everyone, and more tools to customers who have entered their PIN. A result that
// changes the tools of a customer has `refresh_capabilities` in its `_meta`.
class Bank {
 public:
  // Adds the tools to the server. Both must outlive the server's threads.
  Bank(proteus::server::Server& server, Identity identity);
  Bank(const Bank&) = delete;
  Bank& operator=(const Bank&) = delete;

  Accounts& accounts() { return accounts_; }
  std::string customer(const proteus::server::Context& context) const { return customer_of(context, identity_); }
  // Marks a result after which this customer has other tools than before, and notifies clients if the mode requires it.
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
  bool shown_ = false;  // whether the account tools are on the server; used with Identity::shared
};

// Adds the tools, prompt and resources that are offered after signing in. Everyone sees them if `visible` is empty.
void add_account_tools(proteus::server::Server& server, Bank& bank, const proteus::server::Visibility& visible);
void remove_account_tools(proteus::server::Server& server);

}  // namespace bank
