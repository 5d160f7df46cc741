#include "gateway/search/search_answers.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

std::string quoted(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) {
    if (!all.empty()) all += ',';
    json::append_quoted(all, text);
  }
  return "[" + all + "]";
}

std::string not_answered(const std::vector<std::string>& unanswered) {
  if (unanswered.empty()) return {};
  return fmt::format("Not searched, because they did not answer in time: {}.\n", fmt::join(unanswered, ", "));
}

mcp::Reply reply_of(std::string_view text, std::string_view structured) {
  mcp::Reply reply;
  reply.members.add(
      fmt::format(R"("content":[{{"type":"text","text":{}}}],"structuredContent":{})", json::quote(text), structured));
  return reply;
}

}  // namespace

mcp::Reply hits_reply(std::span<const ToolHit> hits, const std::vector<std::string>& unanswered,
                      std::string_view note) {
  std::string text;
  std::string tools;
  for (const ToolHit& hit : hits) {
    text += fmt::format("{} [{}{}]\n{}{}", hit.signature, hit.upstream, hit.read_only ? ", read-only" : "",
                        hit.description.empty() ? "" : "  ", hit.description);
    if (!hit.description.empty()) text += '\n';
    tools += fmt::format(R"({}{{"name":{},"upstream":{},"signature":{},"description":{},"readOnly":{}}})",
                         tools.empty() ? "" : ",", json::quote(hit.name), json::quote(hit.upstream),
                         json::quote(hit.signature), json::quote(hit.description), hit.read_only);
  }
  if (!note.empty()) text += fmt::format("{}\n", note);
  text += not_answered(unanswered);
  std::string structured = fmt::format(R"({{"tools":[{}])", tools);
  if (!unanswered.empty()) structured += fmt::format(R"(,"unanswered":{})", quoted(unanswered));
  if (!note.empty()) structured += fmt::format(R"(,"note":{})", json::quote(note));
  return reply_of(text, structured + "}");
}

std::string described(const catalog::Definition& tool) {
  if (tool.mirrored == nullptr) return std::string(tool.text);
  auto definition = json::parse(tool.text);
  if (!definition) return std::string(tool.text);
  for (const auto& parameter : *tool.mirrored) {
    auto* at = definition->if_object() != nullptr ? definition->get_object().if_contains("inputSchema") : nullptr;
    for (const auto& key : parameter.path) {
      auto* const schema = at != nullptr ? at->if_object() : nullptr;
      auto* const properties = schema != nullptr ? schema->if_contains("properties") : nullptr;
      auto* const among = properties != nullptr ? properties->if_object() : nullptr;
      at = among != nullptr ? among->if_contains(key) : nullptr;
    }
    if (at != nullptr && at->is_object()) at->get_object().erase("x-mcp-header");
  }
  return boost::json::serialize(*definition);
}

std::string no_such_tool(const UnknownName& unknown, const std::vector<std::string>& unanswered) {
  std::string text = fmt::format("There is no tool {}.", log::printable(unknown.name, 200));
  if (!unknown.nearest.empty()) text += fmt::format(" Nearest: {}.", fmt::join(unknown.nearest, ", "));
  text += fmt::format(" {} finds tools by what they do.", kSearchTools);
  if (!unanswered.empty())
    text += fmt::format(" These upstreams did not answer in time: {}.", fmt::join(unanswered, ", "));
  return text;
}

mcp::Reply descriptions_reply(const Descriptions& all) {
  std::string text;
  std::string tools;
  for (const auto& tool : all.tools) {
    text += tool + "\n";
    tools += (tools.empty() ? "" : ",") + tool;
  }
  std::string unknown;
  for (const auto& one : all.unknown) {
    text += no_such_tool(one, {}) + "\n";
    unknown += fmt::format(R"({}{{"name":{},"nearest":{}}})", unknown.empty() ? "" : ",", json::quote(one.name),
                           quoted(one.nearest));
  }
  if (!all.left_out.empty())
    text += fmt::format("The answer is full. Ask once more for: {}.\n", fmt::join(all.left_out, ", "));
  text += not_answered(all.unanswered);
  std::string structured = fmt::format(R"({{"tools":[{}])", tools);
  if (!unknown.empty()) structured += fmt::format(R"(,"unknown":[{}])", unknown);
  if (!all.left_out.empty()) structured += fmt::format(R"(,"left_out":{})", quoted(all.left_out));
  if (!all.unanswered.empty()) structured += fmt::format(R"(,"unanswered":{})", quoted(all.unanswered));
  return reply_of(text, structured + "}");
}

}  // namespace proteus::gateway
