#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "mcp/meta.hpp"
#include "mcp/method.hpp"

// The notifications a server sends, as whole messages.
namespace proteus::mcp {

struct Progress {
  double progress = 0;
  std::optional<double> total;
  std::string message;
};

// `token` as the client wrote it.
std::string progress_notification(std::string_view token, const Progress& progress);
// `data` is JSON text; an empty logger is left out.
std::string log_notification(LogLevel level, std::string_view logger, std::string_view data);
// `subscription` as below: a server that ends a modern subscription says so on its stream, where every
// message is tagged; all others leave it empty.
std::string cancelled_notification(std::string_view request_id, std::string_view reason,
                                   std::string_view subscription = {});
// Of 2025-11-25 alone: what the user did at the URL of an elicitation is done.
std::string elicitation_complete_notification(std::string_view elicitation_id);

// What a modern listener asked for.
struct SubscriptionFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<std::string> uris;

  bool wants_list(Method changed) const;
};
Result<SubscriptionFilter> parse_subscription_filter(std::string_view raw);
std::string write_subscription_filter(const SubscriptionFilter& filter);

// `subscription` is the id of the listen request, as written; empty in the legacy era, whose messages are not
// tagged.
std::string list_changed_notification(Method changed, std::string_view subscription);
std::string resource_updated_notification(std::string_view uri, std::string_view subscription);
std::string acknowledged_notification(const SubscriptionFilter& filter, std::string_view subscription);

}  // namespace proteus::mcp
