#pragma once

#include <string>
#include <string_view>

#include "mcp/reply.hpp"
#include "mcp/version.hpp"

namespace proteus::mcp {

// The capabilities of a server.
struct ServerCapabilities {
  struct Kind {
    bool offered = false;
    bool list_changed = false;
  };
  Kind tools;
  Kind prompts;
  Kind resources;
  bool subscribe = false;  // to individual resources
  bool completions = false;
  bool logging = false;
  // Whether tools can be called as tasks: in the form of 2025-11-25, and in the form of the extension.
  bool tasks = false;
  bool task_extension = false;
};

inline constexpr std::string_view kTaskExtension = "io.modelcontextprotocol/tasks";

std::string write_server_capabilities(const ServerCapabilities& capabilities);
// Reads the object in which a server declares its capabilities. Ignores unknown ones. Returns none if the object is
// malformed.
ServerCapabilities parse_server_capabilities(std::string_view raw);

// Whether a server with these capabilities has the method.
bool offers(const ServerCapabilities& capabilities, Method method);

// How a server identifies itself to its clients.
struct ServerIdentity {
  std::string info;          // Implementation object as JSON
  std::string instructions;  // may be empty
};

// Returns the members of the result of `initialize`.
std::string initialize_members(Version version, const ServerCapabilities& capabilities, const ServerIdentity& identity);
// Returns the members of the result of `server/discover`, without `identity.info`, which goes into `_meta`.
std::string discover_members(Eras eras, const ServerCapabilities& capabilities, const ServerIdentity& identity);

}  // namespace proteus::mcp
