#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/testing/fake_server.hpp"
#include "client/testing/test_support.hpp"

// For tests: a legacy server over Streamable HTTP.
namespace proteus::client::test {

class LegacyHttp : public ::testing::Test {
 protected:
  FakeResponse stream(const std::shared_ptr<Feed>& feed) const { return {.type = "text/event-stream", .feed = feed}; }
  static std::string answer(const FakeRequest& request, std::string_view text) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", request.id(), text_result(text));
  }

  // Gives each handshake its own session: session-1, session-2, …
  void number_sessions() {
    mcp.on["initialize"] = [sessions = 0, initialize = mcp.on["initialize"]](const FakeRequest& request) mutable {
      auto response = initialize(request);
      response.more_headers = fmt::format("Mcp-Session-Id: session-{}\r\n", ++sessions);
      return response;
    };
  }

  FakeMcp mcp = FakeMcp::legacy();
  boost::asio::io_context io;
  FakeServer server{io, [this](const FakeRequest& request) { return mcp(request); }};
};

// Accepts an elicitation, and puts into the answer during which request it came.
inline Task<Result<std::string>> accept(Question question) {
  co_return fmt::format(R"({{"action":"accept","content":{{"during":{}}}}})", question.during);
}

}  // namespace proteus::client::test
