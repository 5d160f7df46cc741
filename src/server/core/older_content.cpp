#include "server/core/older_content.hpp"

#include <deque>
#include <optional>

#include <fmt/format.h>

#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::server {
namespace {

constexpr std::string_view kAudio = "audio";
constexpr std::string_view kLink = "resource_link";
constexpr std::size_t kMostBlocks = 100'000;

bool knows(mcp::Version version, std::string_view type) {
  if (type == kAudio) return version >= mcp::Version::v2025_03_26;
  if (type == kLink) return version >= mcp::Version::v2025_06_18;
  return true;
}

std::string member_of(std::string_view block, std::string_view key) {
  return json::decode_string(json::find_member(block, key)).value_or("");
}

std::string in_words(std::string_view block, std::string_view type) {
  if (type == kAudio) return fmt::format("Audio ({}), which this client cannot play", member_of(block, "mimeType"));
  const std::string description = member_of(block, "description");
  return fmt::format("{}: {}{}{}", member_of(block, "name"), member_of(block, "uri"), description.empty() ? "" : "\n",
                     description);
}

class Rewriting {
 public:
  Rewriting(std::string_view text, mcp::Version version) : splice_(text), version_(version) {}

  void look_at(std::string_view block) {
    if (!json::is_object(block)) return;
    const std::string type = member_of(block, "type");
    if (knows(version_, type)) return;
    splice_.replace(
        block, texts_.emplace_back(fmt::format(R"({{"type":"text","text":{}}})", json::quote(in_words(block, type)))));
  }
  bool any() const { return !texts_.empty(); }
  std::string str() { return splice_.str(); }

 private:
  json::Splice splice_;
  mcp::Version version_;
  std::deque<std::string> texts_;  // the splice has views of these
};

}  // namespace

void write_out_newer_content(mcp::Reply& reply, const mcp::Request& request) {
  if (request.version >= mcp::Version::v2025_06_18) return;
  const mcp::Method method = request.method->method;
  if (method != mcp::Method::tools_call && method != mcp::Method::prompts_get) return;
  const std::string result = "{" + reply.members.str() + "}";
  if (!result.contains(kAudio) && !result.contains(kLink)) return;
  const bool is_prompt = method == mcp::Method::prompts_get;
  const auto blocks = json::elements_of(json::find_member(result, is_prompt ? "messages" : "content"), kMostBlocks);
  if (!blocks) return;
  Rewriting rewriting(result, request.version);
  for (const std::string_view block : *blocks)
    rewriting.look_at(is_prompt ? json::find_member(block, "content") : block);
  if (!rewriting.any()) return;
  reply.members = mcp::Payload();
  reply.members.add(rewriting.str(), 1, 1);
}

}  // namespace proteus::server
