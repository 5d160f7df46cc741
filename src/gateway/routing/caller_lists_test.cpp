#include "gateway/routing/caller_lists.hpp"

#include <gtest/gtest.h>

#include "gateway/callers/principal.hpp"
#include "json/message.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kText =
    R"({"jsonrpc":"2.0","id":0,"method":"tools/list","params":{"_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";

server::Caller subject(std::uint64_t rules) {
  server::Caller caller{.principal = "issuer\nada"};
  caller.grant = std::make_shared<const Principal>(Principal::Parts{
      .name = "ada",
      .permissions = std::make_shared<const Permissions>(catalog::Access::all(), std::vector<std::string>{"*"}),
      .key = caller.principal,
      .rules = rules});
  return caller;
}

std::string key_of(const server::Caller& caller, std::string_view authorization) {
  const std::string text(kText);
  auto message = json::scan(text);
  const auto request = mcp::modern::decode(*message, {}, {});
  return Asker{*request, caller, nullptr, authorization}.key();
}

// UPC-11: what an upstream lists may depend on the token that the caller's own was exchanged for.
TEST(CallerLists, AreNotSharedByTwoTokensOfASubject) {
  const auto ada = subject(1);
  EXPECT_NE(key_of(ada, "Bearer one"), key_of(ada, "Bearer two"));
  EXPECT_EQ(key_of(ada, "Bearer one"), key_of(ada, "Bearer one"));
  EXPECT_EQ(key_of(ada, "Bearer one").find("one"), std::string::npos) << "no token is kept in a key";
}

TEST(CallerLists, AreSharedByTokensThatAreNeverExchanged) {
  const auto ci = subject(0);
  EXPECT_EQ(key_of(ci, "Bearer one"), key_of(ci, "Bearer two"));
}

}  // namespace
}  // namespace proteus::gateway
