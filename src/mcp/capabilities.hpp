#pragma once

#include <string>
#include <string_view>

#include "mcp/reply.hpp"
#include "mcp/version.hpp"

namespace proteus::mcp {

// What a server offers.
struct ServerCapabilities {
  struct Kind {
    bool offered = false;
    bool list_changed = false;
  };
  Kind tools;
  Kind prompts;
  Kind resources;
  bool subscribe = false;  // to single resources
  bool completions = false;
  bool logging = false;
  // Whether a tool can be called as a task: in the form of 2025-11-25, and in that of the extension.
  bool tasks = false;
  bool task_extension = false;
};

inline constexpr std::string_view kTaskExtension = "io.modelcontextprotocol/tasks";

std::string write_server_capabilities(const ServerCapabilities& capabilities);
// Reads the object a server declares them with; unknown ones are ignored.
ServerCapabilities parse_server_capabilities(std::string_view raw);

// Whether a server that offers only this has the method at all.
bool offers(const ServerCapabilities& capabilities, Method method);

// Who a server is, to its clients.
struct ServerIdentity {
  std::string info;          // the Implementation object, as JSON
  std::string instructions;  // may be empty
};

// The inside of the result of `initialize`.
std::string initialize_members(Version version, const ServerCapabilities& capabilities, const ServerIdentity& identity);
// The inside of the result of `server/discover`; its identity travels in `_meta`.
std::string discover_members(Eras eras, const ServerCapabilities& capabilities, const ServerIdentity& identity);

}  // namespace proteus::mcp
