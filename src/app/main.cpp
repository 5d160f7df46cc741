#include <cstdio>
#include <exception>

#include "app/commands/command.hpp"

int main(int argc, char** argv) {
  try {
    return static_cast<int>(proteus::app::run({argv + 1, argv + argc}));
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "proteus: %s\n", fault.what());
    return static_cast<int>(proteus::app::ExitCode::problems);
  }
}
