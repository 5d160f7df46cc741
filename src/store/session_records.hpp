#pragma once

#include <string>
#include <vector>

#include "store/time.hpp"
#include "store/versions.hpp"

// What the store keeps of tool sessions. Texts called JSON are opaque here: they come back as they were put.
namespace proteus::store {

// A tool session. The id identifies it.
struct ToolSessionRecord {
  std::string id;
  std::string user_id;  // JSON
  std::string secrets;  // JSON, its tokens; sealed wherever it is at rest. There is no trace of a token besides
  std::string context;  // empty for none
  std::string catalog;
  Time created_at{};
  Time last_used_at{};
  std::string secrets_fault;  // why a read could not open the secrets, which are empty then; not kept
  Stored stored{};

  friend bool operator==(const ToolSessionRecord&, const ToolSessionRecord&) = default;
};

// One of its tools. Session and name identify it.
struct SessionToolRecord {
  std::string session;
  std::string name;
  std::string definition;     // JSON, as clients see it
  std::string secrets;        // JSON, what they do not see; sealed wherever it is at rest
  std::string secrets_fault;  // as that of a session
  Stored stored{};

  friend bool operator==(const SessionToolRecord&, const SessionToolRecord&) = default;
};

struct PutToolSession {
  ToolSessionRecord record;
  // As those of a token (store/token_records.hpp), and unique together with them.
  std::vector<std::string> hashes{};
};
// With all of its tools.
struct RemoveToolSession {
  std::string id;
};
// When it was last used; nothing where there is no such session.
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
