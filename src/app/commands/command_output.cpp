#include "app/commands/command_output.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "app/commands/terminal.hpp"

namespace proteus::app {

void print_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

ExitCode code_of(const Error& error) {
  return error.kind() == ErrorKind::invalid ? ExitCode::usage : ExitCode::problems;
}

ExitCode refuse(const Error& error) {
  fmt::print(stderr, "proteus: {}\n", one_line(error.message()));
  return code_of(error);
}

}  // namespace proteus::app
