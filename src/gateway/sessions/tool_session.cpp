#include "gateway/sessions/tool_session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "providers/http_tool/arguments.hpp"

namespace proteus::gateway {
namespace {

using Checked = std::expected<providers::CheckedArguments, std::string>;

// Checks large arguments on a background thread, because what they contain decides how long that takes. The thread
// reads a shared copy: the call, which owns the original bytes, may be cancelled meanwhile.
Task<Checked> check_aside(BackgroundThreads& background, providers::HttpToolPointer tool,
                          std::shared_ptr<const std::string> raw) {
  co_return co_await background.run([tool, raw] { return providers::CheckedArguments::check(*tool, *raw); });
}

// Returns a digest of everything that a tool is: what clients see, and what a call sends where.
std::string content_of(const ToolSet& set, const providers::HttpTool& tool) {
  const auto* const definition = set.snapshot->list(catalog::Kind::tool).find(tool.name);
  std::string all;
  for (const std::string_view part :
       {definition != nullptr ? definition->text : std::string_view(), std::string_view(tool.url.text()),
        std::string_view(tool.action), std::string_view(tool.tail)})
    all += fmt::format("{}:{}", part.size(), part);
  if (tool.timeout) all += fmt::format("{}", tool.timeout->count());
  return json::hex(json::sha256(all));
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
  // Uses the tools of this moment: a tool that was removed after the caller listed it no longer runs.
  const auto set = tools();
  const auto tool = set->find(found.definition->own);
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
  const std::string content = content_of(*set, *tool);
  const Confirmations::Run confirmed = [&] { return run_confirmed(call, *tool, content, arguments->members()); };
  // The state of the request binds the approval to the values of the arguments, however they are written.
  co_return co_await calls_.confirmations.ask_first(call, {tool->name, arguments->members(), content}, confirmed);
}

// The tool may have been replaced or removed while the user was asked.
Task<mcp::Outcome> ToolSession::run_confirmed(server::Call& call, const providers::HttpTool& tool,
                                              const std::string& content, std::string_view arguments) {
  const auto set = tools();
  const auto now = set->find(tool.name);
  if (!now || content_of(*set, *now) != content) {
    co_return providers::tool_error("The tool was changed or removed while confirmation was awaited. Nothing was run.");
  }
  co_return co_await run(call, tool, arguments);
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
  // The end of a call counts as use, too, because the call may have taken long.
  touch(calls_.clock.recent());
  co_return reply;
}

}  // namespace proteus::gateway
