#include "gateway/routing/task_ids.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {
namespace {

// Three JSON strings, one of which may consist of escapes, sealed and in Base64.
constexpr std::size_t kLongestShown = std::size_t{16} * 1024;

std::string holder_of(const server::Call& call) {
  const server::Caller& caller = call.caller();
  const bool by_session = caller.principal.empty() && call.session() != nullptr;
  const std::string_view session = by_session ? std::string_view(call.session()->id().value()) : std::string_view();
  return fmt::format("task {}:{}{}:{}{}", caller.principal.size(), caller.principal, caller.context.size(),
                     caller.context, session);
}

std::optional<TaskAtUpstream> read_task(std::string_view plain) {
  const auto parts = json::elements_of(plain, 3);
  if (!parts || parts->size() != 3) return std::nullopt;
  auto upstream = json::decode_string((*parts)[0]);
  auto tool = json::decode_string((*parts)[1]);
  auto own = json::decode_string((*parts)[2]);
  if (!upstream || !tool || !own) return std::nullopt;
  return TaskAtUpstream{std::move(*upstream), std::move(*tool), std::move(*own)};
}

}  // namespace

Error unknown_task() {
  return mcp::errors::invalid_params("Task not found: it has ended, belongs to somebody else, or never was");
}

Result<std::string> TaskIds::show(const TaskAtUpstream& task, const server::Call& call) const {
  if (task.own.empty() || task.own.size() > kLongestOwn) {
    return std::unexpected(errors::protocol(fmt::format(
        "the upstream began a task whose id has {} bytes; it must have 1 to {}", task.own.size(), kLongestOwn)));
  }
  const std::string plain =
      fmt::format("[{},{},{}]", json::quote(task.upstream), json::quote(task.tool), json::quote(task.own));
  return base64_encode(key_.seal_same(plain, holder_of(call)), Base64::url);
}

Result<TaskAtUpstream> TaskIds::open(std::string_view id, const server::Call& call) const {
  const auto sealed = id.size() > kLongestShown ? std::nullopt : base64_decode(id, Base64::url);
  const auto plain = sealed ? key_.open(*sealed, holder_of(call)) : std::nullopt;
  auto task = plain ? read_task(*plain) : std::nullopt;
  if (!task) return std::unexpected(unknown_task());
  return std::move(*task);
}

}  // namespace proteus::gateway
