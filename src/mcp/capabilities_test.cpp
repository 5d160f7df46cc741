#include "mcp/capabilities.hpp"

#include <gtest/gtest.h>

#include "mcp/jsonrpc.hpp"
#include "mcp/meta.hpp"
#include "mcp/protocol_schema_test.hpp"

namespace proteus::mcp {
namespace {

ServerCapabilities from_bits(unsigned bits) {
  ServerCapabilities made;
  made.tools = {(bits & 1U) != 0, (bits & 3U) == 3U};
  made.prompts = {(bits & 4U) != 0, (bits & 12U) == 12U};
  made.resources = {(bits & 16U) != 0, (bits & 48U) == 48U};
  made.subscribe = (bits & 80U) == 80U;
  made.completions = (bits & 128U) != 0;
  made.logging = (bits & 256U) != 0;
  made.tasks = (bits & 512U) != 0;
  made.task_extension = (bits & 1024U) != 0;
  return made;
}
constexpr unsigned kAllBits = 2048;

TEST(ServerCapabilities, ReadBackAsTheyWereWritten) {
  for (unsigned bits = 0; bits < kAllBits; ++bits) {
    const ServerCapabilities made = from_bits(bits);
    const ServerCapabilities read = parse_server_capabilities(write_server_capabilities(made));
    EXPECT_EQ(read.tools.offered, made.tools.offered);
    EXPECT_EQ(read.tools.list_changed, made.tools.list_changed);
    EXPECT_EQ(read.prompts.offered, made.prompts.offered);
    EXPECT_EQ(read.prompts.list_changed, made.prompts.list_changed);
    EXPECT_EQ(read.resources.offered, made.resources.offered);
    EXPECT_EQ(read.resources.list_changed, made.resources.list_changed);
    EXPECT_EQ(read.subscribe, made.subscribe);
    EXPECT_EQ(read.completions, made.completions);
    EXPECT_EQ(read.logging, made.logging);
    EXPECT_EQ(read.tasks, made.tasks);
    EXPECT_EQ(read.task_extension, made.task_extension);
  }
}

TEST(ServerCapabilities, ConformToEveryRevision) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  for (unsigned bits = 0; bits < kAllBits; ++bits) {
    const std::string text = write_server_capabilities(from_bits(bits));
    for (const Version version : kAllVersions)
      EXPECT_TRUE(conforms(version, "ServerCapabilities", text));
  }
}

TEST(ServerCapabilities, AreNoneWhereAServerDeclaresThemWrongly) {
  for (const auto* const text :
       {"", "null", "[]", "{", R"({"tools":true,"prompts":null,"logging":1,"completions":false})",
        R"({"tools":{},"tools":{}})"}) {
    const ServerCapabilities read = parse_server_capabilities(text);
    EXPECT_FALSE(read.tools.offered || read.prompts.offered || read.resources.offered || read.completions ||
                 read.logging)
        << text;
  }
  const ServerCapabilities odd =
      parse_server_capabilities(R"({"tools":{"listChanged":"yes"},"resources":{"subscribe":1}})");
  EXPECT_TRUE(odd.tools.offered && odd.resources.offered);
  EXPECT_FALSE(odd.tools.list_changed || odd.subscribe);
}

// TSK-01
TEST(ServerCapabilities, HaveTasksOnlyWhereToolsCanBeCalledAsTasks) {
  for (const auto* const text :
       {R"({"tasks":{}})", R"({"tasks":{"requests":{}}})", R"({"tasks":{"requests":{"tools":[]}}})",
        R"({"tasks":{"requests":{"tools":{"call":true}}}})", R"({"tasks":true})", R"({"extensions":{"x/y":{}}})"}) {
    EXPECT_FALSE(parse_server_capabilities(text).tasks) << text;
    EXPECT_FALSE(parse_server_capabilities(text).task_extension) << text;
  }
  EXPECT_TRUE(parse_server_capabilities(R"({"tasks":{"requests":{"tools":{"call":{}}}}})").tasks);
  EXPECT_TRUE(parse_server_capabilities(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})").task_extension);
}

TEST(Offers, FollowsFromWhatIsDeclared) {
  const ServerCapabilities nothing;
  for (const Method method :
       {Method::tools_list, Method::tools_call, Method::prompts_list, Method::prompts_get, Method::resources_list,
        Method::resource_templates_list, Method::resources_read, Method::resources_subscribe,
        Method::resources_unsubscribe, Method::complete, Method::set_log_level, Method::tasks_get, Method::tasks_result,
        Method::tasks_list, Method::tasks_cancel, Method::tasks_update}) {
    EXPECT_FALSE(offers(nothing, method)) << to_string(method);
    EXPECT_TRUE(offers(from_bits(kAllBits - 1), method)) << to_string(method);
  }
  for (const Method method : {Method::initialize, Method::ping, Method::discover, Method::listen})
    EXPECT_TRUE(offers(nothing, method)) << to_string(method);
  EXPECT_FALSE(offers(from_bits(16), Method::resources_subscribe)) << "resources, but no subscriptions";
}

const ServerIdentity kIdentity{R"({"name":"proteus","title":"Proteus \"quoted\"","version":"0.1.0"})",
                               "Use \"list\" first.\nThen call."};

// PRO-02: the handshake names the revision, the capabilities and the identity.
TEST(InitializeResult, ConformsToTheRevisionItAgreesTo) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  const MethodInfo& method = *find_method(Era::legacy, Sender::client, "initialize");
  for (const Version version : kNegotiatedVersions) {
    Reply reply;
    reply.members.add(initialize_members(version, from_bits(kAllBits - 1), kIdentity));
    const std::string message = write_result("1", method, reply, {Era::legacy, {}, {}});
    EXPECT_TRUE(result_conforms(version, "InitializeResult", message));
    EXPECT_EQ(json::parse(message)->at("result").at("protocolVersion").as_string(), to_string(version));
    EXPECT_EQ(json::parse(message)->at("result").at("instructions").as_string(), kIdentity.instructions);
  }
}

// PRO-03: versions, capabilities and identity, which is in `_meta`.
TEST(DiscoverResult, ConformsAndNamesVersionsCapabilitiesAndIdentity) {
  SKIP_WITHOUT_PROTOCOL_SCHEMAS();
  const MethodInfo& method = *find_method(Era::modern, Sender::client, "server/discover");
  for (const Eras eras : {Eras{true, true}, Eras{false, true}}) {
    Reply reply;
    reply.members.add(discover_members(eras, from_bits(1), kIdentity));
    const std::string message = write_result("\"d\"", method, reply, {Era::modern, kIdentity.info, {}});
    EXPECT_TRUE(conforms(kModern, "DiscoverResultResponse", message));
    const auto result = json::parse(message)->at("result");
    EXPECT_EQ(result.at("supportedVersions"), *json::parse(supported_versions_json(eras)));
    EXPECT_EQ(result.at("capabilities"), *json::parse(R"({"tools":{}})"));
    EXPECT_EQ(result.at("_meta").at(meta::kServerInfo), *json::parse(kIdentity.info));
    EXPECT_EQ(result.at("instructions").as_string(), kIdentity.instructions);
    EXPECT_EQ(result.at("resultType").as_string(), "complete");
  }
}

TEST(Identity, LeavesEmptyInstructionsOut) {
  EXPECT_EQ(initialize_members(kNewestLegacy, {}, {"{}", ""}),
            R"("protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{})");
  EXPECT_EQ(discover_members({false, true}, {}, {"{}", ""}), R"("supportedVersions":["2026-07-28"],"capabilities":{})");
}

}  // namespace
}  // namespace proteus::mcp
