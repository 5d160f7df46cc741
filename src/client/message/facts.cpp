#include "client/message/facts.hpp"

#include <algorithm>
#include <tuple>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"
#include "mcp/meta.hpp"

namespace proteus::client {
namespace {

// Limits in bytes of the JSON text, checked before the text is decoded.
constexpr std::size_t kLongestVersion = 256;
// An escape such as \u0041 takes six bytes for one character.
constexpr std::size_t kLongestInstructionsAsJson = 6 * kLongestInstructions + 2;

bool is_too_long(ServerFacts& facts, std::string_view what, std::string_view said, std::size_t limit) {
  if (said.size() <= limit) return false;
  facts.left_out.push_back(
      fmt::format("its {} are left out: they have {} bytes, and {} are allowed", what, said.size(), limit));
  return true;
}

void read_common(const Received& answer, ServerFacts& facts) {
  if (const auto raw = answer.member("capabilities");
      json::is_object(raw) && !is_too_long(facts, "capabilities", raw, kLongestDescription)) {
    facts.capabilities = raw;
    facts.offers = mcp::parse_server_capabilities(raw);
  }
  if (const auto raw = answer.member("instructions"); raw.size() > kLongestInstructionsAsJson) {
    is_too_long(facts, "instructions", raw, kLongestInstructions);
  } else if (auto text = json::decode_string(raw);
             text && !is_too_long(facts, "instructions", *text, kLongestInstructions)) {
    facts.instructions = std::move(*text);
  }
  // In `_meta` since 2026-07-28; many servers still put it into the result.
  for (const auto raw : {answer.message().meta.value(mcp::meta::kServerInfo), answer.member("serverInfo")}) {
    if (!json::is_object(raw) || is_too_long(facts, "name and description", raw, kLongestDescription)) continue;
    facts.info = raw;
    break;
  }
}

// Some servers keep members in unordered maps, and write them in another order each time.
bool is_same_json(std::string_view one, std::string_view other) {
  if (one == other) return true;
  const auto canonical = json::canonical_text(one);
  const auto of_other = json::canonical_text(other);
  return canonical && of_other && *canonical == *of_other;
}

}  // namespace

bool same(const ServerFacts& one, const ServerFacts& other) {
  const auto said = [](const ServerFacts& facts) {
    return std::tie(facts.version, facts.instructions, facts.versions);
  };
  return said(one) == said(other) && is_same_json(one.info, other.info) &&
         is_same_json(one.capabilities, other.capabilities);
}

Result<ServerFacts> read_discover(const Received& answer) {
  const auto fault = [](std::string_view why) {
    return std::unexpected(errors::protocol(fmt::format("the answer to server/discover {}", why)));
  };
  const std::string_view raw = answer.member("supportedVersions");
  if (raw.empty() || raw.front() != '[') return fault("names no versions");
  if (raw.size() > kLongestVersions) return fault("names too many versions");
  const auto versions = json::parse(raw);
  if (!versions || versions->get_array().empty() || versions->get_array().size() > kMaxVersions)
    return fault("names no versions");
  ServerFacts facts;
  for (const auto& version : versions->get_array()) {
    if (!version.is_string()) return fault("names a version that is not a string");
    facts.versions.push_back(log::printable(std::string_view(version.get_string()), 32));
  }
  read_common(answer, facts);
  facts.offers.tasks = false;
  return facts;
}

Result<ServerFacts> read_initialize(const Received& answer) {
  const std::string_view raw = answer.member("protocolVersion");
  const auto text = json::decode_string(raw.substr(0, raw.size() <= kLongestVersion ? raw.size() : 0));
  if (!text) return std::unexpected(errors::protocol("the answer to initialize names no protocol version"));
  const auto version = mcp::parse_version(*text);
  if (!version || mcp::era_of(*version) != mcp::Era::legacy) {
    return std::unexpected(errors::unsupported(
        fmt::format("the server wants protocol version {}, which has no handshake here", log::printable(*text, 32))));
  }
  ServerFacts facts;
  facts.version = *version;
  read_common(answer, facts);
  facts.offers.tasks = facts.offers.tasks && mcp::has_tasks(*version);
  facts.offers.task_extension = false;
  return facts;
}

}  // namespace proteus::client
