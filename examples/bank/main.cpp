#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <proteus/server.hpp>

#include "bank/bank.hpp"
#include "signals.hpp"

int main(int argc, char** argv) {
  std::uint16_t port = 0;
  std::size_t threads = 1;
  std::size_t page_size = 1000;
  std::string era = "both";
  std::string token_list;
  bool shared = false;
  CLI::App app("A bank as an MCP server, at /mcp: what a customer may use depends on the PIN");
  app.add_option("--port", port, "Port on 127.0.0.1; 0 for any free one");
  app.add_option("--era", era, "Which clients to serve")->check(CLI::IsMember({"both", "legacy", "modern"}));
  app.add_option("--threads", threads, "Threads that serve")->check(CLI::Range(1, 256));
  app.add_option("--page-size", page_size, "Entries on one page of a list")->check(CLI::Range(1, 1000));
  app.add_flag("--shared", shared, "All customers are one, and see the same");
  app.add_option("--tokens", token_list, "Customers' bearer tokens, as name=token,name=token; _meta is then ignored")
      ->envname("BANK_TOKENS");
  CLI11_PARSE(app, argc, argv);

  bank::Tokens tokens;
  if (!token_list.empty()) {
    auto parsed = bank::parse_tokens(token_list);
    if (!parsed) {
      std::fprintf(stderr, "the tokens: %s\n", parsed.error().message().c_str());
      return 2;
    }
    tokens = std::move(*parsed);
  }
  if (shared && !tokens.empty()) {
    std::fprintf(stderr, "--shared and --tokens exclude each other\n");
    return 2;
  }

  const examples::Signals signals;
  proteus::server::Server server(
      {.name = "bank-server",
       .version = "1.0.0",
       .title = "Bank",
       .instructions = "The account tools appear once pin_authentication was given the PIN, which is 1234 here."},
      {.legacy = era != "modern",
       .modern = era != "legacy",
       .tools = true,
       .prompts = true,
       .resources = true,
       .page_size = page_size});
  bank::Bank bank(server, shared           ? bank::Identity::shared
                          : tokens.empty() ? bank::Identity::by_meta
                                           : bank::Identity::by_token);
  proteus::server::HttpOptions options{.port = port, .threads = threads};
  if (!tokens.empty()) {
    options.authenticate = [tokens](std::string_view authorization) {
      return bank::customer_with(tokens, authorization);
    };
  }
  const auto listening = server.listen(std::move(options));
  if (!listening) {
    std::fprintf(stderr, "%s\n", listening.error().message().c_str());
    return 1;
  }
  std::printf("listening on http://127.0.0.1:%u/mcp\n", *listening);
  std::fflush(stdout);
  signals.wait();
  server.stop();
}
