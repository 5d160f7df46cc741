#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "app/config/toml_document.hpp"

namespace proteus::app {

enum class Severity : std::uint8_t {
  fault,           // the configuration is rejected
  broken_context,  // one context or schema is left out; everything else is served
  warning,         // served, but probably not as intended
};

// A finding about the configuration.
struct Diagnostic {
  Severity severity = Severity::fault;
  std::string file;     // empty if about the environment or the command line
  Position position;    // zero if about the file as a whole
  std::string path;     // "upstreams[0].refresh_interval", or a variable or an option
  std::string pointer;  // JSON pointer into the file (RFC 6901)
  std::string message;
};

// Returns one line, such as "proteus.toml:12:3: upstreams[0].refresh_interval: must be above zero".
std::string show(const Diagnostic& diagnostic);
boost::json::object write_diagnostic(const Diagnostic& diagnostic);

// Sorts by file and position: the main file first, other files by name, then the environment and the command line.
void sort_diagnostics(std::vector<Diagnostic>& diagnostics, std::string_view main_file);

}  // namespace proteus::app
