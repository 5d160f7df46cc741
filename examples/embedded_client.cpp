// The example of docs/embed-the-client.md.
//
//   embedded-client URL               lists the tools, and prints changes until the input ends
//   embedded-client URL TOOL          calls a tool
//   embedded-client --save URL        prints a descriptor of the server
//   embedded-client --load < FILE     like `embedded-client URL`, with the server of a descriptor
#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <proteus/client.hpp>

namespace {

using namespace proteus::client;
using namespace std::chrono_literals;

McpServer::Builder settings(const char* url) {
  return McpServer::builder(url)
      .timeout(30s)
      .fail_fast_on_startup(true)
      .auto_refresh(true)
      .refresh_interval(5min)
      .event_driven_refresh(true)
      .on_elicitation([](const Elicitation& asked) {
        std::printf("The server asks: %s\n", asked.message.c_str());
        return ElicitationAnswer{.action = ElicitationAnswer::Action::decline};
      });
}

int complain(const proteus::Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 1;
}

int call(McpServer& server, const char* tool) {
  CallOptions options;
  options.on_progress = [](const Progress& progress) { std::printf("%g done\n", progress.progress); };
  const auto result = server.call_tool(tool, {}, options);
  if (!result) return complain(result.error());
  std::printf("%s\n", result->text().c_str());
  return result->is_error ? 1 : 0;
}

int run(McpServer server, const char* tool) {
  server.add_change_listener([](const Change& change) {
    for (const auto& name : change.added)
      std::printf("new: %s\n", name.c_str());
    for (const auto& broken : change.breaking)
      std::printf("changed: %s, %s\n", broken.name.c_str(), broken.reasons.front().c_str());
  });
  if (const auto opened = server.open(); !opened) return complain(opened.error());
  if (tool != nullptr) return call(server, tool);
  const auto tools = server.tools();
  if (!tools) return complain(tools.error());
  for (const Tool& each : *tools)
    std::printf("%s: %s\n", each.name.c_str(), each.description.c_str());
  // Each line of input refreshes at once.
  for (std::string line; std::getline(std::cin, line);) {
    const RefreshResult result = server.refresh_now();
    if (!result.ok()) complain(*result.error);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--save" && argc > 2) {
    std::printf("%s\n", boost::json::serialize(settings(argv[2]).build().descriptor()).c_str());
    return 0;
  }
  if (first == "--load") {
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    boost::system::error_code fault;
    const auto parsed = boost::json::parse(text, fault);
    if (fault || !parsed.is_object()) return complain(proteus::errors::invalid("the descriptor is not a JSON object"));
    auto builder = McpServer::from_descriptor(parsed.get_object());
    if (!builder) return complain(builder.error());
    return run(builder->build(), nullptr);
  }
  if (first.empty()) return 2;
  return run(settings(argv[1]).build(), argc > 2 ? argv[2] : nullptr);
}
