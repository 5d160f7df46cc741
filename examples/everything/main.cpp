#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <proteus/server.hpp>

#include "everything.hpp"
#include "signals.hpp"

int main(int argc, char** argv) {
  std::uint16_t port = 0;
  std::size_t threads = 1;
  std::size_t tools = 0;
  std::string era = "both";
  bool stdio = false;
  bool bench = false;
  CLI::App app("An MCP server with every feature of the protocol, at /mcp");
  app.add_option("--port", port, "Port on 127.0.0.1; 0 for any free one");
  app.add_option("--era", era, "Which clients to serve")->check(CLI::IsMember({"both", "legacy", "modern"}));
  app.add_option("--threads", threads, "Threads that serve");
  app.add_flag("--stdio", stdio, "Serve one client on standard input and output");
  app.add_flag("--bench", bench, "Offer only what is measured");
  app.add_option("--tools", tools, "With --bench: further tools");
  CLI11_PARSE(app, argc, argv);

  const examples::Signals signals;
  proteus::server::Server server({.name = "everything-server",
                                  .version = "1.0.0",
                                  .title = "Everything",
                                  .instructions = "Every tool here exists to show one feature of the protocol."},
                                 {.legacy = era != "modern", .modern = era != "legacy"});
  if (bench) {
    everything::add_bench_tools(server, tools);
  } else {
    everything::add_plain_tools(server);
    everything::add_waiting_tools(server);
    everything::add_asking_tools(server);
    everything::add_changing_tools(server);
    everything::add_prompts(server);
    everything::add_resources(server);
  }
  if (stdio) {
    const auto served = server.serve_stdio();
    if (!served) std::fprintf(stderr, "%s\n", served.error().message().c_str());
    return served ? 0 : 1;
  }
  const auto listening = server.listen({.port = port, .threads = threads});
  if (!listening) {
    std::fprintf(stderr, "%s\n", listening.error().message().c_str());
    return 1;
  }
  std::printf("listening on http://127.0.0.1:%u/mcp\n", *listening);
  std::fflush(stdout);
  signals.wait();
  server.stop();
}
