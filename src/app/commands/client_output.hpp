#pragma once

#include <string>

#include <proteus/client.hpp>

#include "app/commands/terminal.hpp"

// Output of `proteus client`: text for people, or one line of JSON for programs.
namespace proteus::app {

struct Shown {
  std::string text;
  bool is_whole = true;  // false if a list could not be read; the text names it
};

// Return everything that a server offers, as tables or JSON.
Shown show_inventory(const client::McpServer& server, const Terminal& terminal);
Shown inventory_json(const client::McpServer& server);

// Returns the texts of a tool's result, and a line for each block that is not text. For a terminal, control characters
// are escaped; otherwise texts are unchanged.
std::string show_result(const client::ToolResult& result, const Terminal& terminal);

// Returns one line for each name.
std::string show_change(const client::Change& change, const Terminal& terminal);
std::string change_json(const client::Change& change);

std::string show_progress(const client::Progress& progress);

}  // namespace proteus::app
