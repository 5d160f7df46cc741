// The example of docs/embed-the-client.md: lists the tools of a server, calls one and tells of changes.
#include <chrono>
#include <cstdio>

#include <proteus/client.hpp>

int main(int argc, char** argv) {
  using namespace proteus::client;
  using namespace std::chrono_literals;
  if (argc < 2) return 2;

  auto server = McpServer::builder(argv[1])
                    .timeout(30s)
                    .on_elicitation([](const Elicitation& asked) {
                      std::printf("The server asks: %s\n", asked.message.c_str());
                      return ElicitationAnswer{.action = ElicitationAnswer::Action::decline};
                    })
                    .build();
  server.add_change_listener([](const Change& change) {
    for (const auto& name : change.added)
      std::printf("new: %s\n", name.c_str());
  });

  if (const auto opened = server.open(); !opened) {
    std::fprintf(stderr, "%s\n", opened.error().message().c_str());
    return 1;
  }
  const auto tools = server.tools();
  for (const Tool& tool : *tools)
    std::printf("%s: %s\n", tool.name.c_str(), tool.description.c_str());
  if (argc < 3) return 0;

  CallOptions options;
  options.on_progress = [](const Progress& progress) { std::printf("%g done\n", progress.progress); };
  const auto result = server.call_tool(argv[2], {}, options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  std::printf("%s\n", result->text().c_str());
  return result->is_error ? 1 : 0;
}
