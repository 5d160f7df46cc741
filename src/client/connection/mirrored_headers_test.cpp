// Tests of tool parameters that are mirrored into headers, also if the known list of tools is out of date.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/modern_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;

class MirroredHeaders : public test::ModernHttp {
 protected:
  // Lists the tool `query`, whose parameter `region` has this type.
  void list_query(std::string type = "string") {
    mcp.on["tools/list"] = [type = std::move(type)](const FakeRequest& request) {
      return test::result(
          request,
          fmt::format(
              R"({{"tools":[{{"name":"query","inputSchema":{{"type":"object","properties":{{"region":{{"type":"{}","x-mcp-header":"Region"}}}}}}}}]}})",
              type));
    };
  }
  // Lets calls succeed only if the parameter `region` is in its header.
  void call_with_region() {
    mcp.on["tools/call"] = [](const FakeRequest& request) {
      if (request.header("mcp-param-region").empty()) return test::rpc_error(request, -32020, "Header mismatch", 400);
      return test::result(request, test::text_result("mirrored"));
    };
  }
};

class FixedAuthorizer final : public Authorizer {
 public:
  Task<Result<std::vector<Header>>> headers(std::string_view, const net::Url&) override {
    co_return std::vector<Header>{{"Authorization", "Bearer of-the-caller"}};
  }
  Task<Result<bool>> refused(Refusal) override { co_return false; }
};

TEST_F(MirroredHeaders, MirrorsAnnotatedParametersAndDropsInvalidTools) {  // PRO-17
  mcp.on["tools/list"] = [](const FakeRequest& request) {
    return test::result(request, R"({"tools":[
      {"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},
      {"name":"broken","inputSchema":{"type":"object","properties":{"region":{"type":"object","x-mcp-header":"Region"}}}}]})");
  };
  Client client(io, server.url(), test::quick());
  const auto tools = client.run(client.connection.list(mcp::Method::tools_list));
  ASSERT_TRUE(tools) << tools.error().message();
  ASSERT_EQ(tools->entries.size(), 1U);
  EXPECT_EQ(tools->entries.front().name, "query");
  EXPECT_EQ(client.text("query", R"({"region":"Köln","other":1})"), "done");
  EXPECT_EQ(server.last("tools/call").header("mcp-param-region"), "=?base64?S8O2bG4=?=");
  EXPECT_EQ(client.text("query", R"({"region":null})"), "done");
  EXPECT_EQ(server.last("tools/call").headers.count("mcp-param-region"), 0U);
  EXPECT_EQ(client.call("query", R"({"region":1})").error().kind(), ErrorKind::invalid);
}

TEST_F(MirroredHeaders, RelistsAndRetriesOnceAfterAHeaderMismatch) {  // PRO-17
  list_query();
  call_with_region();
  Client client(io, server.url(), test::quick());
  EXPECT_EQ(client.text("query", R"({"region":"north"})"), "mirrored");
  EXPECT_EQ(server.count("tools/list"), 1U);
  EXPECT_EQ(server.count("tools/call"), 2U);
  mcp.on["tools/call"] = [](const FakeRequest& request) {
    return test::rpc_error(request, -32020, "Header mismatch", 400);
  };
  EXPECT_EQ(client.call("query", R"({"region":"north"})").error().rpc_code(), -32020);
  EXPECT_EQ(server.count("tools/call"), 4U);
}

// PRO-17: a request that was sent at once is also sent at most twice. The list is read with the caller's credentials.
TEST_F(MirroredHeaders, RelistsAsTheCallerBeforeARequestIsSentOnceMore) {
  list_query();
  call_with_region();
  Client client(io, server.url(), test::quick());
  RequestOptions call;
  call.inputs = Inputs::hand_back;
  call.authorizer = std::make_shared<FixedAuthorizer>();
  EXPECT_EQ(client.text("query", R"({"region":"north"})", call), "mirrored");
  EXPECT_EQ(server.count("tools/call"), 2U);
  EXPECT_EQ(server.count("tools/list"), 1U);
  EXPECT_EQ(server.last("tools/list").header("authorization"), "Bearer of-the-caller");
}

// PRO-17: the arguments do not fit the known definition, so the call is not sent, and no refusal can show that the tool
// has changed.
TEST_F(MirroredHeaders, ReadsTheListAgainWhereArgumentsDoNotFitWhatIsKnownOfATool) {
  list_query();
  Client client(io, server.url(), test::quick());
  ASSERT_TRUE(client.run(client.connection.list(mcp::Method::tools_list)));
  RequestOptions call;
  call.inputs = Inputs::hand_back;
  EXPECT_EQ(client.call("query", R"({"region":5})", call).error().kind(), ErrorKind::invalid);
  EXPECT_EQ(server.count("tools/list"), 2U);
  list_query("integer");
  EXPECT_EQ(client.text("query", R"({"region":5})", call), "done");
  EXPECT_EQ(server.last("tools/call").header("mcp-param-region"), "5");
  EXPECT_EQ(server.count("tools/list"), 3U);
}

// PRO-17: the caller knows the tool from an older list. Tests both ways of sending: as one request, and in rounds.
TEST_F(MirroredHeaders, SendsAMirroredParameterOnceThoughTheCallerBringsItToo) {
  list_query();
  Client client(io, server.url(), test::quick());
  ASSERT_TRUE(client.run(client.connection.list(mcp::Method::tools_list)));
  for (const Inputs inputs : {Inputs::hand_back, Inputs::answer}) {
    RequestOptions call;
    call.inputs = inputs;
    call.headers = {{"mcp-param-REGION", "north"}, {"Mcp-Param-Other", "kept"}};
    EXPECT_EQ(client.text("query", R"({"region":"south"})", call), "done");
    EXPECT_EQ(server.last("tools/call").header("mcp-param-region"), "south");
    EXPECT_EQ(server.last("tools/call").header("mcp-param-other"), "kept");
  }
}

}  // namespace
}  // namespace proteus::client
