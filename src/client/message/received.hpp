#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/tasks/background_threads.hpp"
#include "base/tasks/task.hpp"
#include "json/message.hpp"
#include "mcp/version.hpp"

namespace proteus::client {

// Returns the error of reading a message. If the message exceeds `message_bytes`, names the setting that limits it.
Error naming_limit(Error error, std::size_t message_bytes);

// Text, and the owner of its memory.
struct OwnedText {
  std::string_view text;
  std::shared_ptr<const void> owner;

  static OwnedText copy_of(std::string_view text);
};

// A message from a server and the bytes it was read from, so that it can be forwarded unchanged. Cheap to move and to
// copy. Its views hold while it, a copy, or a pointer from `bytes` exists.
class Received {
 public:
  Received() = default;

  // Reads a message. Fails if the bytes are not JSON (`protocol`) or exceed a limit (`too_large`). JSON that breaks the
  // rules of JSON-RPC becomes a message of kind `invalid`.
  static Result<Received> scan(std::string bytes, const json::ScanLimits& limits);
  // Reads a message without copying it: `owner` keeps the bytes.
  static Result<Received> scan(std::string_view bytes, std::shared_ptr<const void> owner,
                               const json::ScanLimits& limits);

  // Replaces this message by another; see `scan`. Reuses the memory if there are no copies.
  Result<void> rescan(std::string_view bytes, const std::shared_ptr<const void>& owner, const json::ScanLimits& limits);

  // Whether the text is known to contain no line ends, such as the data of an event that has one line.
  bool on_one_line() const { return on_one_line_; }
  void set_on_one_line() { on_one_line_ = true; }

  // Returns a copy that owns its bytes, so that another thread may use it.
  Received copy() const;

  const json::Message& message() const;
  std::string_view text() const { return message().text; }
  // Returns the result object as written; empty if this is not a result.
  std::string_view result() const { return message().result; }
  // Returns a member of `result` or `params` as written; empty if there is none.
  std::string_view member(std::string_view key) const { return message().body.value(key); }

  // Parses the result.
  Result<boost::json::value> value() const;

  // Returns an owner that keeps all views of this message valid.
  std::shared_ptr<const void> bytes() const { return content_; }

 private:
  struct Content;

  Result<void> read(std::string_view bytes, const json::ScanLimits& limits);

  std::shared_ptr<Content> content_;
  bool on_one_line_ = false;
};

// Reads the messages in `bytes`: one, or those of a batch, which only 2025-03-26 allows. Copies the text if it has no
// owner.
Result<std::vector<Received>> scan_messages(std::string_view bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version);
Result<std::vector<Received>> scan_messages(const OwnedText& bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version);

// A longer message takes more than 5 ms to read if it consists of the shortest possible tokens.
inline constexpr std::size_t kLongMessage = std::size_t{1} << 20U;

// Returns whether a message of `bytes` bytes is to be read in the background. `background` may be null.
inline bool is_for_background(std::size_t bytes, const BackgroundThreads* background) {
  return bytes > kLongMessage && background != nullptr;
}

// Like Received::scan and scan_messages, but run on a background thread, which also releases the bytes.
Task<Result<Received>> scan_aside(BackgroundThreads& background, OwnedText bytes, json::ScanLimits limits);
Task<Result<std::vector<Received>>> scan_messages_aside(BackgroundThreads& background, OwnedText bytes,
                                                        json::ScanLimits limits, std::optional<mcp::Version> version);

// The answer to a request: a result.
using Answer = Received;

}  // namespace proteus::client
