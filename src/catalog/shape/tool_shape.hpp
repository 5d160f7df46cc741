#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace proteus::catalog {

// When the user must confirm a call before it runs.
enum class Confirm : std::uint8_t {
  never,
  destructive,  // unless the tool declares that it changes or destroys nothing
  always,
};

// Arguments by name, each with its value as JSON text.
using ArgumentValues = std::map<std::string, std::string, std::less<>>;

// An operator's settings for some tools of one upstream. If several shapes match a tool, the last one that sets
// something wins; `fixed` and `defaults` are combined argument by argument.
struct ToolShape {
  std::vector<std::string> match;  // patterns, by the upstream's own names
  std::string rename = {};         // new name of the one tool that `match` names; empty for none
  std::optional<std::string> title = {};
  std::optional<std::string> description = {};
  std::optional<std::string> append = {};  // text added to the description
  std::optional<bool> hidden = {};
  ArgumentValues fixed = {};     // sent with each call; callers may not give them
  ArgumentValues defaults = {};  // sent if the caller does not give them
  std::optional<Confirm> confirm = {};
  std::optional<std::chrono::milliseconds> timeout = {};  // of a call

  // Whether the shape leaves tools as they are.
  bool is_plain() const { return *this == ToolShape{.match = match}; }
  friend bool operator==(const ToolShape&, const ToolShape&) = default;
};

}  // namespace proteus::catalog
