#pragma once

#include <string>
#include <vector>

#include "store/time.hpp"
#include "store/versions.hpp"

// The records of tool sessions. Texts that are called JSON are opaque to the store: it returns them unchanged.
namespace proteus::store {

// A tool session. Identified by its id.
struct ToolSessionRecord {
  std::string id;
  std::string user_id;  // JSON
  std::string secrets;  // JSON, its tokens; sealed at rest, and stored nowhere else
  std::string context;  // may be empty
  std::string catalog;
  Time created_at{};
  Time last_used_at{};
  std::string secrets_fault;  // why a read could not open the secrets, which are then empty; not stored
  Stored stored{};

  friend bool operator==(const ToolSessionRecord&, const ToolSessionRecord&) = default;
};

// A tool of a tool session. Identified by session and name.
struct SessionToolRecord {
  std::string session;
  std::string name;
  std::string definition;     // JSON, as clients see it
  std::string secrets;        // JSON, what clients do not see; sealed at rest
  std::string secrets_fault;  // like that of a ToolSessionRecord
  Stored stored{};

  friend bool operator==(const SessionToolRecord&, const SessionToolRecord&) = default;
};

struct PutToolSession {
  ToolSessionRecord record;
  // Hashes of the session's tokens, like those of PutToken (store/token_records.hpp) and unique together with them.
  std::vector<std::string> hashes{};
};
// Also removes the tools of the session.
struct RemoveToolSession {
  std::string id;
};
// Records the time of the last use, unless a later one is recorded. Does nothing if there is no such session.
struct TouchToolSession {
  std::string id;
  Time last_used_at{};
};
struct PutSessionTool {
  SessionToolRecord record;
};
struct RemoveSessionTool {
  std::string session;
  std::string name;
};

}  // namespace proteus::store
