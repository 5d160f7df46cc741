#include "app/commands/diagnostics_output.hpp"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/terminal.hpp"
#include "base/log/log.hpp"

namespace proteus::app {
namespace {

void log_diagnostic(const Diagnostic& diagnostic) {
  const bool has_position = diagnostic.position.line > 0;
  log::event(diagnostic.severity == Severity::warning ? log::Level::warning : log::Level::error,
             one_line(diagnostic.message),
             {{"file", one_line(diagnostic.file)},
              {"line", has_position ? std::to_string(diagnostic.position.line) : ""},
              {"column", has_position ? std::to_string(diagnostic.position.column) : ""},
              {"key", one_line(diagnostic.path)}});
}

}  // namespace

void print_diagnostics(const LoadedConfig& loaded, log::Format format) {
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  for (const Diagnostic& diagnostic : loaded.outcome.diagnostics) {
    if (format == log::Format::json) {
      log_diagnostic(diagnostic);
      continue;
    }
    const Style style = diagnostic.severity == Severity::warning ? Style::yellow : Style::red;
    fmt::print(stderr, "{}\n", terminal.styled(style, one_line(show(diagnostic))));
  }
}

void print_failure(std::string_view message, log::Format format) {
  if (format == log::Format::json) return log::critical("{}", one_line(message));
  fmt::print(stderr, "proteus: {}\n", one_line(message));
}

}  // namespace proteus::app
