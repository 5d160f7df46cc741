#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "client/message/received.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/version.hpp"

namespace proteus::client {

// Of what a server says of itself, in bytes. Longer instructions and names are left out; longer capabilities are not
// read, so that it offers nothing.
constexpr std::size_t kLongestInstructions = std::size_t{32} * 1024;
constexpr std::size_t kLongestDescription = std::size_t{64} * 1024;

// What a server says about itself. Self-reported: for display and for what to ask it, never for trust.
struct ServerFacts {
  mcp::Version version = mcp::kModern;  // spoken with it
  std::string info = "{}";              // its Implementation object, as written
  std::string capabilities = "{}";      // as written
  mcp::ServerCapabilities offers;       // the same, read
  std::string instructions;             // may be empty; at most kLongestInstructions
  std::vector<std::string> versions;    // all it says it speaks; only known of a modern one
  std::vector<std::string> left_out;    // what was too long to be read, in words
  bool keeps_session = false;           // of the legacy era: it can tell one connection's requests from another's

  mcp::Era era() const { return mcp::era_of(version); }
};

// Of the result of `server/discover`; fails where it is none, as with servers that answer anything to
// anything.
Result<ServerFacts> read_discover(const Received& answer);
// Of the result of `initialize`; fails where the version is none we speak.
Result<ServerFacts> read_initialize(const Received& answer);

}  // namespace proteus::client
