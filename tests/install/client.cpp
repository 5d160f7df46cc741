// An MCP client, as a user of the installed library writes it.
//
// Connects to the URL it is given, lists the tools, calls `add` with 40 and 2, and prints "add(40, 2) = 42".
#include <cstdio>

#include <proteus/client.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto server = proteus::client::McpServer::builder(argv[1]).build();
  if (const auto opened = server.open(); !opened) {
    std::fprintf(stderr, "%s\n", opened.error().message().c_str());
    return 1;
  }
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
