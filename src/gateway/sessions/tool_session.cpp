#include "gateway/sessions/tool_session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "providers/http_tool/arguments.hpp"

namespace proteus::gateway {
namespace {

using Checked = std::expected<providers::CheckedArguments, std::string>;

// What large arguments hold decides how long they take, so another thread does it. It reads a copy: the call may be
// given up meanwhile, and its bytes with it.
Task<Checked> check_aside(BackgroundThreads& background, providers::HttpToolPointer tool,
                          std::shared_ptr<const std::string> raw) {
  co_return co_await background.run([tool, raw] { return providers::CheckedArguments::check(*tool, *raw); });
}

}  // namespace

providers::HttpToolPointer ToolSet::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      tools, name, {}, [](const providers::HttpToolPointer& tool) { return std::string_view(tool->name); });
  return found != tools.end() && (*found)->name == name ? *found : nullptr;
}

ToolSession::ToolSession(ToolSessionId id, store::Time created_at, const SessionCalls& calls)
    : id_(std::move(id)),
      name_(name_of(id_)),
      created_at_(created_at),
      calls_(calls),
      binding_(std::make_shared<const SessionBinding>()),
      tools_(std::make_shared<const ToolSet>()) {}

std::string ToolSession::key() const { return fmt::format("{}@{}", name_.value(), store::microseconds(created_at_)); }

std::shared_ptr<const SessionBinding> ToolSession::binding() const {
  const std::scoped_lock lock(mutex_);
  return binding_;
}

void ToolSession::bind(std::shared_ptr<const SessionBinding> binding) {
  const std::scoped_lock lock(mutex_);
  binding_ = std::move(binding);
}

std::shared_ptr<const ToolSet> ToolSession::tools() const {
  const std::scoped_lock lock(mutex_);
  return tools_;
}

void ToolSession::set_tools(std::shared_ptr<const ToolSet> tools) {
  const std::scoped_lock lock(mutex_);
  tools_ = std::move(tools);
}

catalog::SnapshotPointer ToolSession::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return tools_->snapshot;
}

Task<mcp::Outcome> ToolSession::handle(server::Call& call, const catalog::Found& found) {
  // Those of the moment: what was taken away since the caller looked is not run any more.
  const auto tool = tools()->find(found.definition->own);
  if (!tool) co_return std::unexpected(mcp::errors::unknown_tool(call.request().name));
  const std::string_view raw = call.request().param("arguments");
  std::shared_ptr<const std::string> copy;
  Checked arguments;
  if (raw.size() <= BackgroundThreads::kSmall) {
    arguments = providers::CheckedArguments::check(*tool, raw);
  } else {
    copy = std::make_shared<const std::string>(raw);
    arguments = co_await check_aside(calls_.background, tool, copy);
  }
  if (!arguments) co_return providers::tool_error(arguments.error());
  if (tool->confirmation == providers::Confirmation::none) {
    mcp::Reply reply = co_await run(call, *tool, arguments->members());
    if (call.cancellation().requested()) co_return std::unexpected(errors::cancelled("the request"));
    co_return reply;
  }
  const Confirmations::Run confirmed = [&] { return run_confirmed(call, tool, arguments->members()); };
  co_return co_await calls_.confirmations.ask_first(call, {tool->name, arguments->members()}, confirmed);
}

// While its user was asked, the tool may have been replaced or taken away.
Task<mcp::Outcome> ToolSession::run_confirmed(server::Call& call, const providers::HttpToolPointer& tool,
                                              std::string_view arguments) {
  if (tools()->find(tool->name) != tool) {
    co_return providers::tool_error("The tool was changed or removed while confirmation was awaited. Nothing was run.");
  }
  co_return co_await run(call, *tool, arguments);
}

Task<mcp::Reply> ToolSession::run(server::Call& call, const providers::HttpTool& tool, std::string_view arguments) {
  const auto bound = binding();
  net::RequestAbort abort;
  const server::Cancellation::Hook cancel(call.cancellation(), [&abort] { abort(); });
  if (call.cancellation().requested()) co_return providers::tool_error("The call was cancelled before it ran.");
  mcp::Reply reply = co_await providers::call_http_tool(calls_.clients.here(),
                                                        {.tool = tool,
                                                         .arguments = arguments,
                                                         .bearer = bound->bearer,
                                                         .era = call.request().era(),
                                                         .clock = calls_.clock,
                                                         .background = calls_.background,
                                                         .abort = &abort},
                                                        calls_.limits);
  // A long call is no idleness.
  touch(calls_.clock.recent());
  co_return reply;
}

}  // namespace proteus::gateway
