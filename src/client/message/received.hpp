#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/background_threads.hpp"
#include "base/task.hpp"
#include "json/message.hpp"
#include "mcp/version.hpp"

namespace proteus::client {

// The error of reading a message, with the name of the setting where it is over the limit for one.
Error naming_limit(Error error, std::size_t message_bytes);

// Text, and what keeps it where it is.
struct OwnedText {
  std::string_view text;
  std::shared_ptr<const void> owner;

  static OwnedText copy_of(std::string_view text);
};

// A message from a server together with the bytes it was received as, so that it can be passed on unchanged.
// Cheap to move and to copy. Its views stay true as long as it or a copy lives, or somebody shares its bytes.
class Received {
 public:
  Received() = default;

  // Fails where the bytes are no JSON (`protocol`), or exceed a limit (`too_large`). What is JSON but breaks
  // the rules of JSON-RPC is received with kind `invalid`.
  static Result<Received> scan(std::string bytes, const json::ScanLimits& limits);
  // The same for bytes that `owner` keeps where they are.
  static Result<Received> scan(std::string_view bytes, std::shared_ptr<const void> owner,
                               const json::ScanLimits& limits);

  // Another message in place of this one, whose memory it takes where nobody has a copy of it.
  Result<void> rescan(std::string_view bytes, const std::shared_ptr<const void>& owner, const json::ScanLimits& limits);

  // Whether its text is known to hold no line ends, as what came in one line of an event.
  bool on_one_line() const { return on_one_line_; }
  void set_on_one_line() { on_one_line_ = true; }

  // With bytes of its own, which no other thread knows of.
  Received copy() const;

  const json::Message& message() const;
  std::string_view text() const { return message().text; }
  // The whole result object, as it was written; empty where this is no result.
  std::string_view result() const { return message().result; }
  // One member of `result` or `params`, as it was written; empty for none.
  std::string_view member(std::string_view key) const { return message().body.value(key); }

  // The result as a tree.
  Result<boost::json::value> value() const;

  // Keeps `text` and every other view alive.
  std::shared_ptr<const void> bytes() const { return content_; }

 private:
  struct Content;

  Result<void> read(std::string_view bytes, const json::ScanLimits& limits);

  std::shared_ptr<Content> content_;
  bool on_one_line_ = false;
};

// The messages in something received: one, or those of a batch, which only 2025-03-26 has.
Result<std::vector<Received>> scan_messages(std::string_view bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version);
Result<std::vector<Received>> scan_messages(const OwnedText& bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version);

// What exceeds this takes more than 5 ms where it is made of the shortest tokens there are.
inline constexpr std::size_t kLongMessage = std::size_t{1} << 20U;

// Whether a message of so many bytes is to be read in the background; there may be none.
inline bool is_for_background(std::size_t bytes, const BackgroundThreads* background) {
  return bytes > kLongMessage && background != nullptr;
}

// As Received::scan and scan_messages, in the background, where the bytes also end.
Task<Result<Received>> scan_aside(BackgroundThreads& background, OwnedText bytes, json::ScanLimits limits);
Task<Result<std::vector<Received>>> scan_messages_aside(BackgroundThreads& background, OwnedText bytes,
                                                        json::ScanLimits limits, std::optional<mcp::Version> version);

// What a request is answered with.
using Answer = Received;

}  // namespace proteus::client
