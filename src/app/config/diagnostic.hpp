#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "app/config/toml_document.hpp"

namespace proteus::app {

enum class Severity : std::uint8_t {
  fault,           // the configuration is refused
  broken_context,  // one context or schema is left out; everything else is served
  warning,         // somebody should look at it
};

// Something about the configuration that its owner should know.
struct Diagnostic {
  Severity severity = Severity::fault;
  std::string file;     // empty where it is about the environment or the command line
  Position position;    // zero where it is about the file as a whole
  std::string path;     // "upstreams[0].refresh_interval", or a variable or an option
  std::string pointer;  // RFC 6901, in the file
  std::string message;
};

// "proteus.toml:12:3: upstreams[0].refresh_interval: must be above zero", on one line.
std::string show(const Diagnostic& diagnostic);
boost::json::object write_diagnostic(const Diagnostic& diagnostic);

// The main file first, other files by name, then the environment and the command line; within a file by position.
void sort_diagnostics(std::vector<Diagnostic>& diagnostics, std::string_view main_file);

}  // namespace proteus::app
