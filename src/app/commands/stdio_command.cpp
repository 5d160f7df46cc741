// proteus stdio: runs the gateway for a single client on standard input and output.
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/diagnostics_output.hpp"
#include "app/commands/terminal.hpp"
#include "app/config/load.hpp"
#include "app/serving/served_manifests.hpp"
#include "app/serving/serving.hpp"
#include "base/log/log.hpp"
#include "base/settings/nearest.hpp"

namespace proteus::app {
namespace {

struct StdioCommandOptions {
  std::string file;
  std::string data;
  std::string context;
};

// Ends the reading of input on SIGTERM and SIGINT.
class Interruption {
 public:
  explicit Interruption(server::StdioPipes& pipes) : signals_(io_, SIGTERM, SIGINT) {
    signals_.async_wait([&pipes](const boost::system::error_code& error, int) {
      if (!error) pipes.interrupt();
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Interruption() {
    io_.stop();
    thread_.join();
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  boost::asio::io_context io_;
  boost::asio::signal_set signals_;
  std::thread thread_;
};

Result<> check_context(const Config& config, const std::string& name) {
  if (name.empty()) return {};
  const auto served = served_manifests(config, nullptr).contexts;
  if (served.contains(name)) return {};
  std::vector<std::string_view> names;
  names.reserve(served.size());
  for (const auto& [known, manifest] : served)
    names.push_back(known);
  if (names.empty()) {
    return std::unexpected(errors::invalid(fmt::format("--context: there is no context {}; none is configured", name)));
  }
  const std::string_view meant = nearest(name, names);
  return std::unexpected(errors::invalid(fmt::format(
      "--context: there is no context {}; {}", name,
      meant.empty() ? fmt::format("there are: {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", meant))));
}

ExitCode serve_stdio(const StdioCommandOptions& options) {
  LoadedConfig loaded = load_config(ConfigFlags::of(options.file, options.data), process_environment(), Purpose::serve);
  log::configure(loaded.outcome.log);
  print_diagnostics(loaded, loaded.outcome.log.format);
  if (!loaded.outcome.config) return ExitCode::usage;
  if (auto there = check_context(*loaded.outcome.config, options.context); !there) {
    print_failure(there.error().message(), loaded.outcome.log.format);
    return ExitCode::usage;
  }
  auto serving = Serving::start(std::move(*loaded.outcome.config), process_environment(), Serving::Front::stdio);
  if (!serving) {
    print_failure(serving.error().message(), loaded.outcome.log.format);
    return ExitCode::problems;
  }
  server::StdioPipes pipes;
  const Interruption interruption(pipes);
  const auto served = (*serving)->serve(pipes, options.context);
  if (!served) print_failure(served.error().message(), loaded.outcome.log.format);
  return served ? ExitCode::done : ExitCode::problems;
}

}  // namespace

void add_stdio_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<StdioCommandOptions>();
  CLI::App* const command = app.add_subcommand("stdio", "Serve one client on standard input and output");
  command->add_option("--config", options->file, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command->add_option("--data", options->data, "Data directory; each running gateway needs its own")->type_name("DIR");
  command->add_option("--context", options->context, "Context of the client; by default none")->type_name("NAME");
  command->callback([options, &invocation] { invocation.exit_code = serve_stdio(*options); });
}

}  // namespace proteus::app
