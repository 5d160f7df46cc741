// An MCP server, as a user of the installed library would write it. Has plain handlers, because g++ 12 is not safe for
// coroutines. Listens on a free port, prints "listening on <url>", and ends on SIGTERM. Its only tool is `add(a, b)`.
#include <csignal>
#include <cstdio>

#include <proteus/server.hpp>

using namespace proteus::server;

int main() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  Server server({.name = "outside", .version = "1.0"});
  const auto added =
      server.add_tool({.name = "add",
                       .description = "Adds two numbers",
                       .input_schema = {{"type", "object"},
                                        {"properties", {{"a", {{"type", "number"}}}, {"b", {{"type", "number"}}}}},
                                        {"required", {"a", "b"}}}},
                      [](Context& context) -> Outcome<ToolResult> {
                        const double sum = context.arguments().at("a").to_number<double>() +
                                           context.arguments().at("b").to_number<double>();
                        return ToolResult::json({{"sum", sum}});
                      });
  if (!added) {
    std::fprintf(stderr, "%s\n", added.error().message().c_str());
    return 1;
  }
  const auto port = server.listen();
  if (!port) {
    std::fprintf(stderr, "%s\n", port.error().message().c_str());
    return 1;
  }
  std::printf("listening on http://127.0.0.1:%u/mcp\n", static_cast<unsigned>(*port));
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
}
