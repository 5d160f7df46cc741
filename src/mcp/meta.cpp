#include "mcp/meta.hpp"

#include <algorithm>
#include <array>

#include "json/message.hpp"

namespace proteus::mcp {

namespace meta {

bool is_protocol_key(std::string_view key) {
  static constexpr std::array kKeys = {kProtocolVersion, kClientInfo, kClientCapabilities, kLogLevel,
                                       kProgressToken};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

}  // namespace meta

namespace {

constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

using Storage = std::vector<std::unique_ptr<std::string>>;

bool declares(std::string_view object, std::string_view member, Storage& storage) {
  const auto members = json::members_of(object, storage);
  return members && members->has(member);
}

}  // namespace

std::string_view to_string(LogLevel level) {
  return kLevels.at(static_cast<std::size_t>(level));
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  const auto found = std::ranges::find(kLevels, text);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevels.begin());
}

Result<ClientCapabilities> parse_client_capabilities(std::string_view raw) {
  ClientCapabilities capabilities;
  if (raw == "{}") return capabilities;
  Storage storage;
  const auto members = json::members_of(raw, storage);
  if (!members) return std::unexpected(members.error());
  const std::string_view elicitation = members->value("elicitation");
  if (!elicitation.empty()) {
    capabilities.elicitation_url = declares(elicitation, "url", storage);
    // An empty object meant forms before there were modes, and still does.
    capabilities.elicitation_form = declares(elicitation, "form", storage) || !capabilities.elicitation_url;
  }
  const std::string_view sampling = members->value("sampling");
  capabilities.sampling = !sampling.empty();
  capabilities.sampling_tools = capabilities.sampling && declares(sampling, "tools", storage);
  capabilities.roots = members->has("roots");
  return capabilities;
}

std::string write_client_capabilities(const ClientCapabilities& capabilities) {
  std::string out = "{";
  const auto add = [&](std::string_view text) {
    if (out.size() > 1) out += ',';
    out += text;
  };
  if (capabilities.elicitation_form && capabilities.elicitation_url) {
    add(R"("elicitation":{"form":{},"url":{}})");
  } else if (capabilities.elicitation_form) {
    add(R"("elicitation":{"form":{}})");
  } else if (capabilities.elicitation_url) {
    add(R"("elicitation":{"url":{}})");
  }
  if (capabilities.sampling)
    add(capabilities.sampling_tools ? R"("sampling":{"tools":{}})" : R"("sampling":{})");
  if (capabilities.roots) add(R"("roots":{})");
  return out + "}";
}

}  // namespace proteus::mcp
