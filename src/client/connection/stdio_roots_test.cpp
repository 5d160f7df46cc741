// Roots that a program asks for when its session begins.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using test::Client;

// Asks for roots as soon as it may, and answers calls with what it has been told so far.
constexpr const char* kAskingProgram = R"(
import json, sys

seen = []

def send(**message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method = message.get('method', 'answer')
    seen.append(method)
    if method == 'initialize':
        info = {'name': 'asking', 'version': '1'}
        send(id=message['id'], result={'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}, 'serverInfo': info})
    elif method == 'notifications/initialized':
        send(id='roots', method='roots/list')
    elif method == 'ping':
        send(id=message['id'], result={})
    elif method == 'tools/call':
        send(id=message['id'], result={'content': [{'type': 'text', 'text': ' '.join(seen)}]})
)";

// BRG-13: a pipe takes the answer before the program has read it, and a busy machine lets it read late.
TEST(StdioRoots, TakeEffectFromWhenTheProgramHasReadThem) {
  Options options = test::quick();
  options.era = mcp::Era::legacy;
  options.owner = Owner::session;
  options.handlers.list_roots = [](Question) -> Task<Result<std::string>> { co_return R"({"roots":[]})"; };
  Client client(net::Command{{"python3", "-c", kAskingProgram}, net::child_environment({})}, options);
  const std::string seen = client.text("report");
  EXPECT_THAT(seen, ::testing::EndsWith(" ping tools/call"));
  EXPECT_LT(seen.find("answer"), seen.rfind("ping")) << seen;
  EXPECT_NE(seen.find("ping"), seen.rfind("ping")) << "one for the question, and one for the answer: " << seen;
}

}  // namespace
}  // namespace proteus::client
