// An MCP client, as a user of the installed library would write it. Connects to the given URL, lists the tools, calls
// `add` with 40 and 2, and prints "add(40, 2) = 42".
#include <chrono>
#include <cstdio>

#include <proteus/client.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using namespace std::chrono_literals;
  const auto built = proteus::client::McpServer::builder(argv[1])
                         .timeout(30s)
                         .fail_fast_on_startup(true)
                         .auto_refresh(true)
                         .refresh_interval(5min)
                         .event_driven_refresh(true)
                         .build();
  auto loaded = proteus::client::McpServer::from_descriptor(built.descriptor());
  if (!loaded) return 1;
  auto server = loaded->build();
  server.add_change_listener([](const proteus::client::Change&) {});
  if (const auto opened = server.open(); !opened) {
    std::fprintf(stderr, "%s\n", opened.error().message().c_str());
    return 1;
  }
  const proteus::client::RefreshResult refreshed = server.refresh_now();
  if (!refreshed.ok() || !refreshed.changes.empty() || !server.is_auto_refresh_running()) {
    std::fprintf(stderr, "the server is not read again as it should be\n");
    return 1;
  }
  server.stop_auto_refresh();
  const auto tools = server.tools();
  if (!tools || tools->size() != 1 || tools->front().name != "add") {
    std::fprintf(stderr, "the server does not offer add\n");
    return 1;
  }
  const auto result = server.call_tool("add", {{"a", 40}, {"b", 2}});
  if (!result || result->is_error) {
    std::fprintf(stderr, "%s\n", result ? result->text().c_str() : result.error().message().c_str());
    return 1;
  }
  const double sum = result->value.at("structuredContent").at("sum").to_number<double>();
  std::printf("add(40, 2) = %g\n", sum);
}
