#include "app/diagnostics_output.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "app/terminal.hpp"

namespace proteus::app {

void print_diagnostics(const LoadedConfig& loaded) {
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  for (const Diagnostic& diagnostic : loaded.outcome.diagnostics) {
    const Style style = diagnostic.severity == Severity::warning ? Style::yellow : Style::red;
    fmt::print(stderr, "{}\n", terminal.styled(style, one_line(show(diagnostic))));
  }
}

}  // namespace proteus::app
