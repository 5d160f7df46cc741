#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <proteus/server_async.hpp>

#include "bank/bank.hpp"

namespace bank {

using namespace proteus::server;

namespace {

constexpr std::string_view kStatement = "bank://statement";
constexpr std::string_view kBooking = "bank://bookings/{number}";
constexpr std::int64_t kMostCents = 1'000'000'000;
constexpr std::chrono::milliseconds kStep{50};

boost::json::object no_arguments() {
  return {{"type", "object"}, {"properties", boost::json::object()}, {"additionalProperties", false}};
}

boost::json::object cents() { return {{"type", "integer"}, {"minimum", 1}, {"maximum", kMostCents}}; }

boost::json::object short_text() { return {{"type", "string"}, {"minLength", 1}, {"maxLength", 128}}; }

boost::json::object required(std::string_view text, boost::json::object text_schema) {
  return {{"type", "object"},
          {"properties", {{text, std::move(text_schema)}, {"cents", cents()}}},
          {"required", {text, "cents"}},
          {"additionalProperties", false}};
}

boost::json::array bookings(const Statement& statement) {
  boost::json::array out;
  for (const auto& booking : statement.bookings)
    out.push_back(boost::json::object{{"cents", booking.cents}, {"text", booking.text}});
  return out;
}

Outcome<ToolResult> view_balance(Bank& bank, const Context& context) {
  const auto statement = bank.accounts().statement(bank.customer(context));
  if (!statement) return ToolResult::error(statement.error().message());
  return ToolResult::json(boost::json::object{{"customer", bank.customer(context)},
                                              {"cents", statement->cents},
                                              {"invested_cents", statement->invested_cents}});
}

Outcome<ToolResult> view_transactions(Bank& bank, const Context& context) {
  const auto statement = bank.accounts().statement(bank.customer(context));
  if (!statement) return ToolResult::error(statement.error().message());
  return ToolResult::json(
      boost::json::object{{"customer", bank.customer(context)}, {"transactions", bookings(*statement)}});
}

Outcome<ToolResult> transfer_money(Bank& bank, const Context& context) {
  const auto& arguments = context.arguments();
  const auto done = bank.accounts().transfer(bank.customer(context), arguments.at("to").as_string(),
                                             arguments.at("cents").to_number<std::int64_t>());
  return done ? ToolResult::text("Transferred.") : ToolResult::error(done.error().message());
}

// Takes some time, and reports progress.
boost::asio::awaitable<Outcome<ToolResult>> invest(Bank& bank, Context& context) {
  const std::string customer = bank.customer(context);
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  constexpr int kSteps = 3;
  for (int step = 1; step <= kSteps; ++step) {
    context.progress(step, kSteps, fmt::format("for {}: offer {} of {}", customer, step, kSteps));
    timer.expires_after(kStep);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  const auto& arguments = context.arguments();
  const auto done = bank.accounts().invest(customer, arguments.at("cents").to_number<std::int64_t>(),
                                           arguments.at("fund").as_string());
  co_return done ? ToolResult::text("Invested.") : ToolResult::error(done.error().message());
}

Outcome<ToolResult> sign_out(Bank& bank, const Context& context) {
  const std::string customer = bank.customer(context);
  bank.accounts().sign_out(customer);
  return bank.changed(customer, ToolResult::text("Signed out. The account tools are gone."));
}

Outcome<PromptResult> explain_statement(Bank& bank, const Context& context) {
  const auto statement = bank.accounts().statement(bank.customer(context));
  if (!statement) return statement.error();
  return PromptResult{.messages = {{.content = Content::text(fmt::format(
                                        "Explain this statement of {}: {} cents, {} bookings.", bank.customer(context),
                                        statement->cents, statement->bookings.size()))}}};
}

Outcome<ResourceResult> read_statement(Bank& bank, const Context& context) {
  const auto statement = bank.accounts().statement(bank.customer(context));
  if (!statement) return statement.error();
  std::string text = fmt::format("{}: {} cents\n", bank.customer(context), statement->cents);
  for (const auto& booking : statement->bookings)
    text += fmt::format("{:+} {}\n", booking.cents, booking.text);
  return ResourceResult{.contents = {{.mime_type = "text/plain", .text = std::move(text)}}};
}

Outcome<ResourceResult> read_booking(Bank& bank, const Context& context) {
  const auto statement = bank.accounts().statement(bank.customer(context));
  if (!statement) return statement.error();
  for (std::size_t i = 0; i < statement->bookings.size(); ++i) {
    if (context.variable("number") != std::to_string(i + 1)) continue;
    const auto& booking = statement->bookings[i];
    return ResourceResult{.contents = {{.text = fmt::format("{:+} {}", booking.cents, booking.text)}}};
  }
  return proteus::errors::not_found("There is no booking of that number");
}

}  // namespace

void add_account_tools(Server& server, Bank& bank, const Visibility& visible) {
  const auto add = [&](Tool tool, Outcome<ToolResult> (*handler)(Bank&, const Context&)) {
    tool.visible = visible;
    server.add_tool(std::move(tool), [&bank, handler](Context& context) { return handler(bank, context); }).value();
  };
  const boost::json::object reads{{"readOnlyHint", true}};
  add({.name = "view_balance",
       .description = "Shows what is on the account",
       .input_schema = no_arguments(),
       .annotations = reads},
      view_balance);
  add({.name = "view_transactions",
       .description = "Shows the newest transactions, the newest first",
       .input_schema = no_arguments(),
       .annotations = reads},
      view_transactions);
  add({.name = "transfer_money",
       .description = "Transfers money to another customer",
       .input_schema = required("to", short_text()),
       .annotations = {{"destructiveHint", true}},
       .more = {{"_meta", {{"bank/fee_cents", 0}}}, {"x-bank", {{"desk", "payments"}}}}},
      transfer_money);
  add({.name = "sign_out", .description = "Closes the account again", .input_schema = no_arguments()}, sign_out);
  add_async_tool(server,
                 {.name = "invest",
                  .description = "Puts money into a fund",
                  .input_schema = required("fund", short_text()),
                  .visible = visible},
                 [&bank](Context& context) { return invest(bank, context); })
      .value();
  server
      .add_prompt({.name = "explain_statement", .description = "Explains the account", .visible = visible},
                  [&bank](Context& context) { return explain_statement(bank, context); })
      .value();
  server
      .add_resource({.uri = std::string(kStatement), .name = "statement", .visible = visible},
                    [&bank](Context& context) { return read_statement(bank, context); })
      .value();
  server
      .add_resource_template({.uri_template = std::string(kBooking), .name = "booking", .visible = visible},
                             [&bank](Context& context) { return read_booking(bank, context); })
      .value();
}

void remove_account_tools(Server& server) {
  for (const char* name : {"view_balance", "view_transactions", "transfer_money", "sign_out", "invest"})
    server.remove_tool(name);
  server.remove_prompt("explain_statement");
  server.remove_resource(kStatement);
  server.remove_resource_template(kBooking);
}

}  // namespace bank
