#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace proteus::catalog {

// When the user is asked before a call runs.
enum class Confirm : std::uint8_t {
  never,
  destructive,  // unless the tool declares that it changes or destroys nothing
  always,
};

// Arguments by name, each with its value as JSON text.
using ArgumentValues = std::map<std::string, std::string, std::less<>>;

// What an operator says about some tools of one upstream. Where several speak of a tool, each thing is as the last one
// says that says it; arguments are taken one by one.
struct ToolShape {
  std::vector<std::string> match;  // patterns, by the upstream's own names
  std::string rename = {};         // of the one tool that `match` names; empty for none
  std::optional<std::string> title = {};
  std::optional<std::string> description = {};
  std::optional<std::string> append = {};  // to the description
  std::optional<bool> hidden = {};
  ArgumentValues fixed = {};     // sent with each call, and not for callers to give
  ArgumentValues defaults = {};  // sent where the caller gives none
  std::optional<Confirm> confirm = {};
  std::optional<std::chrono::milliseconds> timeout = {};  // of a call

  // Whether it leaves tools as they are.
  bool is_plain() const { return *this == ToolShape{.match = match}; }
  friend bool operator==(const ToolShape&, const ToolShape&) = default;
};

}  // namespace proteus::catalog
