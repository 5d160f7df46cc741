#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "mcp/meta.hpp"
#include "mcp/method.hpp"

// Writes the notifications of a server, as whole messages.
namespace proteus::mcp {

struct Progress {
  double progress = 0;
  std::optional<double> total;
  std::string message;
};

// `token` is the raw progress token of the client.
std::string progress_notification(std::string_view token, const Progress& progress);
// `data` is JSON text. An empty logger is omitted.
std::string log_notification(LogLevel level, std::string_view logger, std::string_view data);
// `subscription` is the raw id of a modern listen request if the server ends it on its stream, where every message is
// tagged. Otherwise it is empty.
std::string cancelled_notification(std::string_view request_id, std::string_view reason,
                                   std::string_view subscription = {});
// Only in 2025-11-25: the user has completed the interaction at the URL of an elicitation.
std::string elicitation_complete_notification(std::string_view elicitation_id);

// What a modern listener subscribes to.
struct SubscriptionFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<std::string> uris;

  bool wants_list(Method changed) const;
};
Result<SubscriptionFilter> parse_subscription_filter(std::string_view raw);
std::string write_subscription_filter(const SubscriptionFilter& filter);

// `subscription` is the raw id of the listen request; empty in the legacy era, whose messages are not tagged.
std::string list_changed_notification(Method changed, std::string_view subscription);
std::string resource_updated_notification(std::string_view uri, std::string_view subscription);
std::string acknowledged_notification(const SubscriptionFilter& filter, std::string_view subscription);

}  // namespace proteus::mcp
