#include "mcp/notifications.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::mcp {
namespace {

// A listener that names more resources is rejected.
constexpr std::size_t kMaxSubscribedUris = 1000;

// JSON has neither infinities nor NaN, so they are reported as zero progress.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "0"; }

std::string tag(std::string_view subscription) {
  return fmt::format(R"("_meta":{{"{}":{}}})", meta::kSubscriptionId, subscription);
}

}  // namespace

std::string progress_notification(std::string_view token, const Progress& progress) {
  std::string params = fmt::format(R"({{"progressToken":{},"progress":{})", token, number(progress.progress));
  if (progress.total) fmt::format_to(std::back_inserter(params), R"(,"total":{})", number(*progress.total));
  if (!progress.message.empty()) {
    params += R"(,"message":)";
    json::append_quoted(params, progress.message);
  }
  return write_notification(to_string(Method::progress), params + "}");
}

std::string log_notification(LogLevel level, std::string_view logger, std::string_view data) {
  std::string params = fmt::format(R"({{"level":"{}")", to_string(level));
  if (!logger.empty()) {
    params += R"(,"logger":)";
    json::append_quoted(params, logger);
  }
  return write_notification(to_string(Method::log_message), fmt::format(R"({},"data":{}}})", params, data));
}

std::string cancelled_notification(std::string_view request_id, std::string_view reason,
                                   std::string_view subscription) {
  std::string params = fmt::format(R"({{"requestId":{})", request_id);
  if (!reason.empty()) {
    params += R"(,"reason":)";
    json::append_quoted(params, reason);
  }
  if (!subscription.empty()) params += "," + tag(subscription);
  return write_notification(to_string(Method::cancelled), params + "}");
}

std::string elicitation_complete_notification(std::string_view elicitation_id) {
  return write_notification(to_string(Method::elicitation_complete),
                            fmt::format(R"({{"elicitationId":{}}})", json::quote(elicitation_id)));
}

bool SubscriptionFilter::wants_list(Method changed) const {
  switch (changed) {
    case Method::tools_changed: return tools;
    case Method::prompts_changed: return prompts;
    case Method::resources_changed: return resources;
    default: return false;
  }
}

Result<SubscriptionFilter> parse_subscription_filter(std::string_view raw) {
  if (!json::is_object(raw)) return std::unexpected(errors::invalid_params("params.notifications must be an object"));
  std::vector<std::unique_ptr<std::string>> storage;
  auto members = json::members_of(raw, storage);
  if (!members) return std::unexpected(std::move(members.error()).with_rpc_code(code::kInvalidParams));
  SubscriptionFilter filter;
  for (const auto& [key, wanted] :
       {std::pair{"toolsListChanged", &filter.tools}, std::pair{"promptsListChanged", &filter.prompts},
        std::pair{"resourcesListChanged", &filter.resources}}) {
    const std::string_view value = members->value(key);
    if (value.empty()) continue;
    if (value != "true" && value != "false") {
      return std::unexpected(errors::invalid_params(fmt::format("{} must be true or false", key)));
    }
    *wanted = value == "true";
  }
  const std::string_view uris = members->value("resourceSubscriptions");
  if (uris.empty()) return filter;
  const auto not_strings = errors::invalid_params("resourceSubscriptions must be an array of strings");
  if (uris.front() != '[') return std::unexpected(not_strings);
  const auto elements = json::elements_of(uris, kMaxSubscribedUris);
  if (!elements) {
    return std::unexpected(
        proteus::errors::too_large("resourceSubscriptions", kMaxSubscribedUris).with_rpc_code(code::kInvalidParams));
  }
  for (const std::string_view element : *elements) {
    auto uri = json::decode_string(element);
    if (!uri) return std::unexpected(not_strings);
    filter.uris.push_back(*std::move(uri));
  }
  return filter;
}

std::string write_subscription_filter(const SubscriptionFilter& filter) {
  std::string out = "{";
  const auto add = [&](std::string_view text) {
    if (out.size() > 1) out += ',';
    out += text;
  };
  if (filter.tools) add(R"("toolsListChanged":true)");
  if (filter.prompts) add(R"("promptsListChanged":true)");
  if (filter.resources) add(R"("resourcesListChanged":true)");
  if (!filter.uris.empty()) {
    std::string uris;
    for (const auto& uri : filter.uris) {
      if (!uris.empty()) uris += ',';
      json::append_quoted(uris, uri);
    }
    add(fmt::format(R"("resourceSubscriptions":[{}])", uris));
  }
  return out + "}";
}

std::string list_changed_notification(Method changed, std::string_view subscription) {
  return write_notification(to_string(changed), subscription.empty() ? "" : "{" + tag(subscription) + "}");
}

std::string resource_updated_notification(std::string_view uri, std::string_view subscription) {
  std::string params = R"({"uri":)";
  json::append_quoted(params, uri);
  if (!subscription.empty()) params += "," + tag(subscription);
  return write_notification(to_string(Method::resource_updated), params + "}");
}

std::string acknowledged_notification(const SubscriptionFilter& filter, std::string_view subscription) {
  return write_notification(
      to_string(Method::subscription_acknowledged),
      fmt::format(R"({{"notifications":{},{}}})", write_subscription_filter(filter), tag(subscription)));
}

}  // namespace proteus::mcp
