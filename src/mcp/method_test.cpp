#include "mcp/method.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

std::set<std::string, std::less<>> names(Era era, Sender sender, Form form) {
  std::set<std::string, std::less<>> found;
  for (const MethodInfo& info : methods(era, sender)) {
    if (info.form == form) found.emplace(info.name);
  }
  return found;
}

std::set<std::string, std::less<>> without_tasks(std::set<std::string, std::less<>> found) {
  std::erase_if(found, [](const std::string& name) {
    return name.starts_with("tasks/") || name.starts_with("notifications/tasks");
  });
  return found;
}

// Tasks are an extension, which the schema of the modern era does not have.
TEST(Methods, OfTheModernEraAreThoseOfItsSchema) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  const auto ours = [](Sender sender, Form form) { return without_tasks(names(Era::modern, sender, form)); };
  EXPECT_EQ(ours(Sender::client, Form::request), methods_of(kModern, "ClientRequest"));
  EXPECT_EQ(ours(Sender::client, Form::notification), methods_of(kModern, "ClientNotification"));
  EXPECT_EQ(ours(Sender::server, Form::request), methods_of(kModern, "ServerRequest"));
  EXPECT_EQ(ours(Sender::server, Form::notification), methods_of(kModern, "ServerNotification"));
}

// TSK-01
TEST(Methods, OfTheTaskExtensionAreModern) {
  for (const auto* const name : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const auto* const found = find_method(Era::modern, Sender::client, name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->named_by, NamedBy::task_id) << "SEP-2663, \"Routing Headers\"";
    EXPECT_TRUE(is_about_tasks(found->method));
  }
  for (const auto* const name : {"tasks/result", "tasks/list"})
    EXPECT_EQ(find_method(Era::modern, Sender::client, name), nullptr) << name;
  EXPECT_FALSE(is_about_tasks(Method::tools_call) || is_about_tasks(Method::listen) ||
               is_about_tasks(Method::initialized));
}

TEST(Methods, OfTheLegacyEraAreThoseOfItsNewestSchema) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  // Proteus does not support tasks that clients run for servers.
  EXPECT_EQ(names(Era::legacy, Sender::client, Form::request), methods_of(kNewestLegacy, "ClientRequest"));
  EXPECT_EQ(names(Era::legacy, Sender::client, Form::notification),
            without_tasks(methods_of(kNewestLegacy, "ClientNotification")));
  EXPECT_EQ(names(Era::legacy, Sender::server, Form::request),
            without_tasks(methods_of(kNewestLegacy, "ServerRequest")));
  EXPECT_EQ(names(Era::legacy, Sender::server, Form::notification), methods_of(kNewestLegacy, "ServerNotification"));
}

TEST(Methods, OfOlderRevisionsAreAllInTheLegacyEra) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (const Version version : {Version::v2024_11_05, Version::v2025_03_26, Version::v2025_06_18}) {
    for (const auto& [union_name, sender] :
         {std::pair{"ClientRequest", Sender::client}, std::pair{"ClientNotification", Sender::client},
          std::pair{"ServerRequest", Sender::server}, std::pair{"ServerNotification", Sender::server}}) {
      for (const auto& name : methods_of(version, union_name)) {
        EXPECT_NE(find_method(Era::legacy, sender, name), nullptr) << to_string(version) << " " << name;
      }
    }
  }
}

TEST(Methods, ThatAnEraDoesNotHaveAreUnknownInIt) {
  for (const auto* const gone :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
        "notifications/initialized", "notifications/roots/list_changed", "notifications/progress"}) {
    EXPECT_EQ(find_method(Era::modern, Sender::client, gone), nullptr) << gone;
    EXPECT_NE(find_method(Era::legacy, Sender::client, gone), nullptr) << gone;
  }
  for (const auto* const gone :
       {"sampling/createMessage", "elicitation/create", "roots/list", "ping", "notifications/elicitation/complete"}) {
    EXPECT_EQ(find_method(Era::modern, Sender::server, gone), nullptr) << gone;
    EXPECT_NE(find_method(Era::legacy, Sender::server, gone), nullptr) << gone;
  }
  for (const auto* const fresh : {"server/discover", "subscriptions/listen"}) {
    EXPECT_NE(find_method(Era::modern, Sender::client, fresh), nullptr) << fresh;
    EXPECT_EQ(find_method(Era::legacy, Sender::client, fresh), nullptr) << fresh;
  }
  EXPECT_EQ(find_method(Era::modern, Sender::client, "Tools/List"), nullptr);
  EXPECT_EQ(find_method(Era::modern, Sender::client, ""), nullptr);
  EXPECT_EQ(find_method(Era::modern, Sender::server, "tools/call"), nullptr) << "a server calls no tools";
}

TEST(Methods, AreNamedOnceInEachTable) {
  for (const Era era : {Era::legacy, Era::modern}) {
    for (const Sender sender : {Sender::client, Sender::server}) {
      const auto table = methods(era, sender);
      EXPECT_EQ(names(era, sender, Form::request).size() + names(era, sender, Form::notification).size(), table.size());
      for (const MethodInfo& info : table) {
        EXPECT_EQ(to_string(info.method), info.name);
        EXPECT_EQ(info.form == Form::notification, info.name.starts_with("notifications/")) << info.name;
      }
    }
  }
}

std::set<std::string, std::less<>> modern_requests(bool MethodInfo::* property) {
  std::set<std::string, std::less<>> found;
  for (const MethodInfo& info : methods(Era::modern, Sender::client)) {
    if (info.*property) found.emplace(info.name);
  }
  return found;
}
using Names = std::set<std::string, std::less<>>;

// PRO-07: 2026-07-28, "Caching".
TEST(Methods, WhoseResultsMayBeCachedAreMarked) {
  EXPECT_EQ(modern_requests(&MethodInfo::cacheable),
            (Names{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
                   "resources/read"}));
}

// PRO-07
TEST(Methods, WhoseResultsMayBeCachedAreThoseOfTheSchema) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (const auto& [method, result] :
       {std::pair{"server/discover", "DiscoverResult"}, std::pair{"tools/list", "ListToolsResult"},
        std::pair{"tools/call", "CallToolResult"}, std::pair{"prompts/list", "ListPromptsResult"},
        std::pair{"prompts/get", "GetPromptResult"}, std::pair{"resources/list", "ListResourcesResult"},
        std::pair{"resources/templates/list", "ListResourceTemplatesResult"},
        std::pair{"resources/read", "ReadResourceResult"}, std::pair{"completion/complete", "CompleteResult"},
        std::pair{"subscriptions/listen", "SubscriptionsListenResult"}}) {
    const auto& properties = definition(kModern, result).at("properties").as_object();
    const MethodInfo& info = *find_method(Era::modern, Sender::client, method);
    EXPECT_EQ(info.cacheable, properties.contains("ttlMs")) << method;
    EXPECT_EQ(info.paged, properties.contains("nextCursor")) << method;
  }
}

TEST(Methods, ThatArePagedAreTheLists) {
  EXPECT_EQ(modern_requests(&MethodInfo::paged),
            (Names{"tools/list", "prompts/list", "resources/list", "resources/templates/list"}));
}

// 2026-07-28, "Supported Requests" of multi round-trip requests.
TEST(Methods, ThatMayBeAnsweredByAskingForInputAreThree) {
  EXPECT_EQ(modern_requests(&MethodInfo::may_ask), (Names{"tools/call", "prompts/get", "resources/read"}));
}

// PRO-04: 2026-07-28, "Standard Request Headers".
TEST(Methods, ThatAreMirroredIntoMcpNameAreThree) {
  for (const MethodInfo& info : methods(Era::modern, Sender::client)) {
    if (is_about_tasks(info.method)) continue;
    const NamedBy expected = info.name == "tools/call" || info.name == "prompts/get" ? NamedBy::name
                             : info.name == "resources/read"                         ? NamedBy::uri
                                                                                     : NamedBy::nothing;
    EXPECT_EQ(info.named_by, expected) << info.name;
  }
}

}  // namespace
}  // namespace proteus::mcp
