#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "client/message/received.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/version.hpp"

namespace proteus::client {

// Limits in bytes of what a server says about itself. Longer instructions and descriptions are left out. Longer
// capabilities are not read, so that the server offers nothing.
constexpr std::size_t kLongestInstructions = std::size_t{32} * 1024;
constexpr std::size_t kLongestDescription = std::size_t{64} * 1024;

// Limits of a list of versions, and in bytes of the JSON text that has it.
constexpr std::size_t kMaxVersions = 64;
constexpr std::size_t kLongestVersions = 64 * kMaxVersions;

// What a server says about itself. Use it for display and to choose requests, never for trust.
struct ServerFacts {
  mcp::Version version = mcp::kModern;  // the version in use
  std::string info = "{}";              // its Implementation object, as written
  std::string capabilities = "{}";      // as written
  mcp::ServerCapabilities offers;       // the capabilities, parsed
  std::string instructions;             // may be empty; at most kLongestInstructions
  std::vector<std::string> versions;    // supported versions; only a modern server names them
  std::vector<std::string> left_out;    // a sentence for each part that was too long to read
  bool keeps_session = false;           // a legacy server that can tell the requests of connections apart

  mcp::Era era() const { return mcp::era_of(version); }
};

// Returns whether a server says the same about itself in both, in whatever order of members.
bool same(const ServerFacts& one, const ServerFacts& other);

// Reads the result of `server/discover`. Fails if it is something else: some servers answer every method.
Result<ServerFacts> read_discover(const Received& answer);
// Reads the result of `initialize`. Fails if its version is not a legacy version that we speak.
Result<ServerFacts> read_initialize(const Received& answer);

}  // namespace proteus::client
