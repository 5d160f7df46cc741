#include "mcp/notifications.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/message.hpp"
#include "mcp/errors.hpp"
#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

TEST(Progress, SaysHowFarUnderTheTokenTheClientChose) {
  EXPECT_EQ(
      progress_notification("\"t\"", {50, 100.0, "half"}),
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":50,"total":100,"message":"half"}})");
  EXPECT_EQ(progress_notification("7", {0.25, std::nullopt, ""}),
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.25}})");
}

TEST(Progress, IsANumberWhateverTheHandlerReports) {
  for (const double value :
       {0.0, -1.5, 1e21, 1e-9, std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::nan("")}) {
    const std::string text = progress_notification("1", {value, value, "\xff\n"});
    const auto message = json::scan(text);
    ASSERT_TRUE(message) << text;
    EXPECT_EQ(message->kind, json::MessageKind::notification);
  }
}

TEST(LogMessage, CarriesItsDataAsItIs) {
  EXPECT_EQ(
      log_notification(LogLevel::warning, "db \"x\"", R"({"a": [1.0]})"),
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db \"x\"","data":{"a": [1.0]}}})");
  EXPECT_EQ(log_notification(LogLevel::debug, "", "\"x\""),
            R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"x"}})");
}

TEST(Notifications, ConformToEveryRevisionThatHasThem) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (const Version version : kAllVersions) {
    EXPECT_TRUE(conforms(version, "ProgressNotification", progress_notification("\"t\"", {0.5, 1.0, "m"})));
    EXPECT_TRUE(conforms(version, "ProgressNotification", progress_notification("7", {1, std::nullopt, ""})));
    EXPECT_TRUE(conforms(version, "CancelledNotification", cancelled_notification("7", "why \"not\"")));
    EXPECT_TRUE(conforms(version, "CancelledNotification", cancelled_notification("\"a\"", "")));
    EXPECT_TRUE(conforms(version, "LoggingMessageNotification", log_notification(LogLevel::emergency, "l", "[1]")));
    const std::string_view tag = era_of(version) == Era::modern ? "\"sub\"" : "";
    EXPECT_TRUE(
        conforms(version, "ToolListChangedNotification", list_changed_notification(Method::tools_changed, tag)));
    EXPECT_TRUE(
        conforms(version, "PromptListChangedNotification", list_changed_notification(Method::prompts_changed, tag)));
    EXPECT_TRUE(conforms(version, "ResourceListChangedNotification",
                         list_changed_notification(Method::resources_changed, tag)));
    EXPECT_TRUE(conforms(version, "ResourceUpdatedNotification", resource_updated_notification("file:///\"x\"", tag)));
  }
  EXPECT_TRUE(
      conforms(kNewestLegacy, "ElicitationCompleteNotification", elicitation_complete_notification("id \"1\"")));
  EXPECT_TRUE(conforms(kModern, "SubscriptionsAcknowledgedNotification",
                       acknowledged_notification({true, true, true, {"file:///x", "a\"b"}}, "1")));
  EXPECT_TRUE(conforms(kModern, "SubscriptionsAcknowledgedNotification", acknowledged_notification({}, "1")));
}

// PRO-05: every message of a subscription is tagged with the raw id of its request.
TEST(Notifications, OfASubscriptionAreTaggedWithItsId) {
  for (const std::string id : {"1", R"("a\u0041")", "123456789012345678901234567890"}) {
    for (const std::string& text :
         {list_changed_notification(Method::tools_changed, id), resource_updated_notification("file:///x", id),
          acknowledged_notification({}, id), cancelled_notification(id, "shutdown", id)}) {
      const auto message = json::scan(text);
      ASSERT_TRUE(message) << text;
      EXPECT_EQ(message->meta.value(meta::kSubscriptionId), id) << text;
    }
  }
  EXPECT_EQ(
      cancelled_notification("1", "r", "1"),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r","_meta":{"io.modelcontextprotocol/subscriptionId":1}}})");
}

TEST(Notifications, OfALegacySessionAreNotTagged) {
  EXPECT_EQ(list_changed_notification(Method::prompts_changed, ""),
            R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})");
  EXPECT_EQ(resource_updated_notification("file:///x", ""),
            R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///x"}})");
  EXPECT_EQ(cancelled_notification("1", ""),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
}

TEST(SubscriptionFilter, ReadsBackAsItWasWritten) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    SubscriptionFilter made{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, {}};
    if ((bits & 8U) != 0) made.uris = {"file:///a", "b\"\n"};
    const auto read = parse_subscription_filter(write_subscription_filter(made));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->tools, made.tools);
    EXPECT_EQ(read->prompts, made.prompts);
    EXPECT_EQ(read->resources, made.resources);
    EXPECT_EQ(read->uris, made.uris);
    EXPECT_EQ(read->wants_list(Method::tools_changed), made.tools);
    EXPECT_EQ(read->wants_list(Method::prompts_changed), made.prompts);
    EXPECT_EQ(read->wants_list(Method::resources_changed), made.resources);
    EXPECT_FALSE(read->wants_list(Method::log_message));
  }
}

TEST(SubscriptionFilter, WithWrongTypesIsRefused) {
  for (const auto* const text :
       {"", "null", "[]", "true", R"({"toolsListChanged":"yes"})", R"({"promptsListChanged":null})",
        R"({"resourcesListChanged":1})", R"({"resourceSubscriptions":"file:///x"})", R"({"resourceSubscriptions":[1]})",
        R"({"resourceSubscriptions":{}})"}) {
    const auto read = parse_subscription_filter(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(rpc_code(read.error(), Era::modern), code::kInvalidParams) << text;
  }
  EXPECT_TRUE(parse_subscription_filter(R"({"toolsListChanged":false,"later":[1]})"));
}

TEST(SubscriptionFilter, HasABoundedNumberOfKinds) {
  std::string text = R"({"toolsListChanged":true)";
  for (int i = 0; i < 300; ++i)
    text += fmt::format(R"(,"later{}":true)", i);
  const auto read = parse_subscription_filter(text + "}");
  ASSERT_FALSE(read);
  EXPECT_EQ(rpc_code(read.error(), Era::modern), code::kInvalidParams);
}

TEST(SubscriptionFilter, NamesABoundedNumberOfResources) {
  const auto filter = [](std::size_t count) {
    std::string text = R"({"resourceSubscriptions":["u")";
    for (std::size_t i = 1; i < count; ++i)
      text += ",\"u\"";
    return parse_subscription_filter(text + "]}");
  };
  EXPECT_TRUE(filter(1000));
  ASSERT_FALSE(filter(1001));
  EXPECT_EQ(rpc_code(filter(1001).error(), Era::modern), code::kInvalidParams);
}

}  // namespace
}  // namespace proteus::mcp
