// Tests of roots that a program asks for when its session begins.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using test::Client;

Task<Result<std::string>> given(Result<std::string> answer) { co_return answer; }

// Asks for roots as soon as it may, and answers calls with the methods that it has received so far.
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

// Exits when it receives a `ping`. `report` returns the methods that this process has received.
constexpr const char* kPingProgram = R"(
import json, sys

seen = []

for line in sys.stdin:
    message = json.loads(line)
    method = message['method']
    seen.append(method)
    if method == 'ping':
        sys.exit(1)
    result = None
    if method == 'initialize':
        info = {'name': 'fragile', 'version': '1'}
        result = {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}, 'serverInfo': info}
    elif method == 'tools/call':
        result = {'content': [{'type': 'text', 'text': ' '.join(seen)}]}
    if result:
        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)
)";

// BRG-13
TEST(StdioRoots, AreNotAskedForByAProgramThatExitsAtAPing) {
  Options options = test::quick();
  options.era = mcp::Era::legacy;
  options.owner = Owner::session;
  options.handlers.list_roots = [](Question) { return given(R"({"roots":[]})"); };
  Client client(net::Command{{"python3", "-c", kPingProgram}, net::child_environment({})}, options);
  EXPECT_EQ(client.text("report"), "initialize notifications/initialized tools/call");
  EXPECT_EQ(client.text("report"), "initialize notifications/initialized tools/call tools/call");
}

// Asks for roots during a call of `ask`, which it answers without waiting. `report` returns the roots that it received.
constexpr const char* kHastyProgram = R"(
import json, sys

roots = 'nothing'

def send(**message):
    print(json.dumps({'jsonrpc': '2.0', **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method = message.get('method')
    if method == 'initialize':
        info = {'name': 'hasty', 'version': '1'}
        send(id=message['id'], result={'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}, 'serverInfo': info})
    elif method == 'ping':
        send(id=message['id'], result={})
    elif method == 'tools/call':
        if message['params']['name'] == 'ask':
            send(id='roots', method='roots/list')
        send(id=message['id'], result={'content': [{'type': 'text', 'text': roots}]})
    elif method is None:
        roots = json.dumps(message.get('result', message.get('error')))
)";

// BRG-13: the first call ends before its caller gives roots, and the next call's caller gives them.
TEST(StdioRoots, AreAskedForWithTheNextCallWhereOneEndsWithoutThem) {
  Options options = test::quick();
  options.era = mcp::Era::legacy;
  options.owner = Owner::caller;
  options.handlers.list_roots = [](Question) -> Task<Result<std::string>> { co_return R"({"roots":["nobody's"]})"; };
  Client client(net::Command{{"python3", "-c", kHastyProgram}, net::child_environment({})}, options);
  const auto answering = [](Result<std::string> answer) {
    RequestOptions of_call;
    auto handlers = std::make_shared<Handlers>();
    handlers->list_roots = [answer = std::move(answer)](Question) { return given(answer); };
    of_call.handlers = std::move(handlers);
    return of_call;
  };
  EXPECT_EQ(client.text("ask", "{}", answering(std::unexpected(errors::cancelled("the call")))), "nothing");
  EXPECT_EQ(client.text("report", "{}", answering(R"({"roots":[]})")), R"({"roots": []})");
}

}  // namespace
}  // namespace proteus::client
