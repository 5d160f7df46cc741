#include "bank/bank.hpp"

namespace bank {

using namespace proteus::server;

Bank::Bank(Server& server, Identity identity) : server_(server), identity_(identity) {
  add_open_tools();
  if (identity_ == Identity::shared) return;
  add_account_tools(server_, *this, [this](const Context& context) { return accounts_.signed_in(customer(context)); });
}

void Bank::add_open_tools() {
  server_
      .add_tool({.name = "agent_handoff",
                 .title = "Talk to a person",
                 .description = "Hands the conversation over to a person at the bank",
                 .input_schema = {{"type", "object"},
                                  {"properties", {{"reason", {{"type", "string"}, {"maxLength", 1000}}}}},
                                  {"additionalProperties", false}}},
                [this](Context& context) { return hand_off(context); })
      .value();
  server_
      .add_tool({.name = "pin_authentication",
                 .title = "Enter the PIN",
                 .description = "Checks the customer's PIN; the right one opens the account",
                 .input_schema = {{"type", "object"},
                                  {"properties", {{"pin", {{"type", "string"}, {"pattern", "^[0-9]{4,12}$"}}}}},
                                  {"required", {"pin"}},
                                  {"additionalProperties", false}}},
                [this](Context& context) { return authenticate(context); })
      .value();
}

// The result contains the request's `_meta`, so that the person sees the context of the conversation.
Outcome<ToolResult> Bank::hand_off(const Context& context) {
  const std::uint64_t ticket = ++last_ticket_;
  ToolResult result = ToolResult::json(
      boost::json::object{{"ticket", ticket}, {"customer", customer(context)}, {"context", context.raw_meta()}});
  result.meta["bank/queue"] = ticket;
  return result;
}

Outcome<ToolResult> Bank::authenticate(const Context& context) {
  const std::string who = customer(context);
  if (who.empty()) return ToolResult::error("Whose PIN? The request's _meta needs the member \"user\", a short text.");
  const bool before = accounts_.signed_in(who);
  const auto entered = accounts_.enter_pin(who, context.arguments().at("pin").as_string());
  if (!entered) return ToolResult::error(entered.error().message());
  switch (*entered) {
    case Entered::accepted: return changed(who, ToolResult::text("The PIN is right. The account tools are there now."));
    case Entered::refused: return ToolResult::error("The PIN is wrong.");
    case Entered::locked: break;
  }
  auto locked = ToolResult::error("The PIN was wrong too often, and the account is locked. A person can help.");
  return before ? changed(who, std::move(locked)) : locked;
}

ToolResult Bank::changed(const std::string& customer, ToolResult result) {
  if (identity_ == Identity::shared) show_to_everyone();
  if (identity_ == Identity::by_token) server_.tools_changed(customer);
  result.meta["refresh_capabilities"] = true;
  return result;
}

void Bank::show_to_everyone() {
  const std::scoped_lock lock(shown_mutex_);
  const bool wanted = accounts_.signed_in("everyone");
  if (wanted == shown_) return;
  shown_ = wanted;
  if (wanted) {
    add_account_tools(server_, *this, {});
  } else {
    remove_account_tools(server_);
  }
}

}  // namespace bank
