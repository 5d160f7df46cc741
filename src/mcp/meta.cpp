#include "mcp/meta.hpp"

#include <algorithm>
#include <array>

#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::mcp {

namespace meta {

bool is_protocol_key(std::string_view key) {
  return key == kProtocolVersion || key == kClientInfo || key == kClientCapabilities || key == kLogLevel ||
         key == kProgressToken;
}

}  // namespace meta

namespace {

constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

using Storage = std::vector<std::unique_ptr<std::string>>;

}  // namespace

std::string_view to_string(LogLevel level) { return kLevels.at(static_cast<std::size_t>(level)); }

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
  // Only an object declares a capability; any other value declares nothing.
  if (const auto raw_elicitation = members->value("elicitation"); json::is_object(raw_elicitation)) {
    const auto modes = json::members_of(raw_elicitation, storage);
    if (!modes) return std::unexpected(modes.error());
    capabilities.elicitation_url = json::is_object(modes->value("url"));
    // An empty object means forms, as it did before there were modes.
    capabilities.elicitation_form = json::is_object(modes->value("form")) || !capabilities.elicitation_url;
  }
  if (const auto raw_sampling = members->value("sampling"); json::is_object(raw_sampling)) {
    const auto features = json::members_of(raw_sampling, storage);
    if (!features) return std::unexpected(features.error());
    capabilities.sampling = true;
    capabilities.sampling_tools = json::is_object(features->value("tools"));
    capabilities.sampling_context = json::is_object(features->value("context"));
  }
  if (const auto raw_roots = members->value("roots"); json::is_object(raw_roots)) {
    const auto features = json::members_of(raw_roots, storage);
    if (!features) return std::unexpected(features.error());
    capabilities.roots = true;
    capabilities.roots_list_changed = features->value("listChanged") == "true";
  }
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
  if (capabilities.sampling) {
    const bool both = capabilities.sampling_tools && capabilities.sampling_context;
    add(both                            ? R"("sampling":{"tools":{},"context":{}})"
        : capabilities.sampling_tools   ? R"("sampling":{"tools":{}})"
        : capabilities.sampling_context ? R"("sampling":{"context":{}})"
                                        : R"("sampling":{})");
  }
  if (capabilities.roots) {
    add(capabilities.roots_list_changed ? R"("roots":{"listChanged":true})" : R"("roots":{})");
  }
  return out + "}";
}

}  // namespace proteus::mcp
