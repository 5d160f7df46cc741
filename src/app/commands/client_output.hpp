#pragma once

#include <string>

#include <proteus/client.hpp>

#include "app/commands/terminal.hpp"

// How `proteus client` shows things: for people, and as a line of JSON for programs.
namespace proteus::app {

// All a server has, as tables.
std::string show_inventory(const client::McpServer& server, const Terminal& terminal);
std::string inventory_json(const client::McpServer& server);

// A tool's result: its texts, and a line for each block that is none. On a terminal nothing in it is obeyed; elsewhere
// texts are as the tool sent them.
std::string show_result(const client::ToolResult& result, const Terminal& terminal);

// One line per name.
std::string show_change(const client::Change& change, const Terminal& terminal);
std::string change_json(const client::Change& change);

std::string show_progress(const client::Progress& progress);

}  // namespace proteus::app
