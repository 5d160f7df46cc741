// proteus check: reports everything that is wrong with a configuration, without using the network.
#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/commands/terminal.hpp"
#include "app/config/load.hpp"

namespace proteus::app {
namespace {

struct CheckOptions {
  std::string file;
  bool json = false;
};

bool is_warning(const Diagnostic& diagnostic) { return diagnostic.severity == Severity::warning; }

std::string counted(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// Returns one line about a configuration without faults.
std::string summary(const LoadedConfig& loaded) {
  const Config& config = *loaded.outcome.config;
  return fmt::format("{}: {}, {}, {}\n", loaded.file ? one_line(*loaded.file) : "built-in defaults",
                     counted(config.upstreams.size(), "upstream"), counted(config.contexts.size(), "context"),
                     counted(config.auth.tokens.size(), "token"));
}

void print_for_people(const LoadedConfig& loaded, std::size_t faults) {
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  for (const Diagnostic& diagnostic : loaded.outcome.diagnostics) {
    const Style style = is_warning(diagnostic) ? Style::yellow : Style::red;
    fmt::print(stderr, "{}\n", terminal.styled(style, one_line(show(diagnostic))));
  }
  if (faults > 0) {
    const bool all = loaded.outcome.diagnostics.size() < kMaxDiagnostics;
    fmt::print(stderr, "{}{}\n", counted(faults, "fault"), all ? "" : " or more");
  } else {
    fmt::print("{}", summary(loaded));
  }
}

void print_json(const LoadedConfig& loaded, std::size_t faults) {
  boost::json::array wrong;
  boost::json::array warnings;
  for (const Diagnostic& diagnostic : loaded.outcome.diagnostics)
    (is_warning(diagnostic) ? warnings : wrong).push_back(write_diagnostic(diagnostic));
  boost::json::object out{{"ok", faults == 0}};
  if (loaded.file) out.emplace("file", *loaded.file);
  out.emplace("faults", std::move(wrong));
  out.emplace("warnings", std::move(warnings));
  fmt::print("{}\n", boost::json::serialize(out));
}

ExitCode check(const CheckOptions& options) {
  const LoadedConfig loaded =
      load_config(ConfigFlags::of(options.file), process_environment(), Purpose::check, TlsFiles::checked);
  const auto& diagnostics = loaded.outcome.diagnostics;
  const auto faults = diagnostics.size() - static_cast<std::size_t>(std::ranges::count_if(diagnostics, is_warning));
  (options.json ? print_json : print_for_people)(loaded, faults);
  return faults == 0 ? ExitCode::done : ExitCode::usage;
}

}  // namespace

void add_check_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* const command = app.add_subcommand("check", "Report everything that is wrong with a configuration");
  command->add_option("--config", options->file, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON, for programs");
  command->callback([options, &invocation] { invocation.exit_code = check(*options); });
}

}  // namespace proteus::app
