#pragma once

// For tests: a gateway whose sessions have tools at a back end.

#include <string>
#include <string_view>
#include <vector>

#include "admin/testing/admin_fixture.hpp"
#include "providers/testing/test_backend.hpp"

namespace proteus::admin::test {

using providers::test::TestBackend;
using providers::test::tool_text;
using server::RawClient;

inline std::string bearer(std::string_view token) { return fmt::format("Authorization: Bearer {}\r\n", token); }

class SessionFixture : public AdminFixture {
 public:
  explicit SessionFixture(store::Store& kept, File file = {}, net::EgressSettings allowed = {.allow_loopback = true})
      : AdminFixture(kept, std::move(file), std::move(allowed)) {}

  Reply init(std::string_view id, std::string_view token, std::string_view members = {}) {
    return ask("POST", "/admin/session/init",
               fmt::format(R"({{"session_id":"{}","user_token":"{}","user_id":7{}}})", id, token, members));
  }
  // `tools` are JSON texts.
  Reply add(std::string_view id, const std::vector<std::string>& tools, std::string_view members = {}) {
    return ask("POST", "/admin/tools/register",
               fmt::format(R"({{"session_id":"{}","tools":[{}]{}}})", id, fmt::join(tools, ","), members));
  }
  Reply drop(std::string_view id, std::string_view name) {
    return ask("POST", "/admin/tools/unregister", fmt::format(R"({{"session_id":"{}","name":"{}"}})", id, name));
  }
  Reply cleanup(std::string_view id) {
    return ask("POST", "/admin/session/cleanup", fmt::format(R"({{"session_id":"{}"}})", id));
  }
  Reply list(std::string_view id) { return ask("GET", fmt::format("/admin/tools/list?session_id={}", id)); }

  // Sends a request as a modern client.
  RawClient::Answer mcp(std::string_view token, std::string_view method, std::string_view members = {},
                        std::string_view name = {}, std::string_view capabilities = "{}") {
    RawClient client(server.local_port());
    const std::string separated = members.empty() ? "" : fmt::format("{},", members);
    return client.request("POST", server::modern_fields(method, name) + bearer(token),
                          server::rpc("1", method, separated + server::modern_meta(capabilities)));
  }
  RawClient::Answer call_as(std::string_view token, std::string_view name,
                            std::string_view arguments = R"({"query":"x"})", std::string_view more = {},
                            std::string_view capabilities = "{}") {
    return mcp(token, "tools/call", fmt::format(R"("name":"{}","arguments":{}{})", name, arguments, more), name,
               capabilities);
  }
  std::vector<std::string> tools_of(std::string_view token) {
    std::vector<std::string> names;
    const auto answer = mcp(token, "tools/list").json();
    for (const auto& tool : answer.at("result").at("tools").as_array())
      names.emplace_back(tool.at("name").as_string());
    return names;
  }
  int status_for(std::string_view token) { return mcp(token, "tools/list").status; }

  TestBackend backend;
};

}  // namespace proteus::admin::test
