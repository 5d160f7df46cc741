#include "gateway/routing/task_translation.hpp"

#include <fmt/format.h>

#include "gateway/routing/translation.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"
#include "mcp/meta.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kTaskId = "taskId";

std::string task_meta(const json::Message& message, std::string_view shown) {
  std::string out;
  for (const auto& [key, value] : message.meta) {
    if (key == mcp::meta::kServerInfo) continue;
    if (!out.empty()) out += ',';
    json::append_quoted(out, key);
    out += ':';
    const bool related = key == mcp::meta::kRelatedTask && json::is_object(value);
    const std::string_view raw = related ? json::find_member(value, kTaskId) : std::string_view();
    out += raw.empty() ? std::string(value) : with_string(value, raw, shown);
  }
  return out;
}

}  // namespace

bool asks_for_task(const mcp::Request& request) {
  return mcp::has_tasks(request.version) && request.method->method == mcp::Method::tools_call &&
         request.message->body.has("task");
}

bool is_of_task(const mcp::Request& request, const client::Answer& answer) {
  if (mcp::is_about_tasks(request.method->method)) return true;
  if (request.method->method != mcp::Method::tools_call) return false;
  if (request.era() == mcp::Era::modern) return answer.member("resultType") == R"("task")";
  return asks_for_task(request) && json::is_object(answer.member("task"));
}

std::string_view begun_task(const mcp::Request& request, const client::Answer& answer) {
  if (request.era() == mcp::Era::modern) return answer.member(kTaskId);
  return json::find_member(answer.member("task"), kTaskId);
}

mcp::Reply task_reply(const mcp::Request& request, const client::Answer& answer, std::string_view shown) {
  const json::Message& message = answer.message();
  const bool begun = request.method->method == mcp::Method::tools_call;
  const std::string quoted = json::quote(shown);
  json::Splice splice(message.result);
  const std::string_view raw = begun ? begun_task(request, answer) : answer.member(kTaskId);
  if (json::is_string(raw)) splice.replace(raw, quoted);
  json::edit_members(splice, message.result, message.body,
                     [](const json::Member& member) { return member.key == "_meta" || member.key == "resultType"; });
  mcp::Reply reply;
  reply.members.add(splice.str(), 1, 1);
  reply.meta = task_meta(message, shown);
  reply.is_tool_error = is_tool_error(answer);
  reply.is_task = begun;
  return reply;
}

std::string_view related_task(std::string_view object) {
  const std::string_view related = json::find_member(json::find_member(object, "_meta"), mcp::meta::kRelatedTask);
  const std::string_view raw = json::find_member(related, kTaskId);
  return json::is_string(raw) ? raw : std::string_view();
}

std::string with_string(std::string_view text, std::string_view raw, std::string_view other) {
  const std::string quoted = json::quote(other);
  json::Splice splice(text);
  splice.replace(raw, quoted);
  return splice.str();
}

}  // namespace proteus::gateway
