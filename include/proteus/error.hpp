#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace proteus {

// What went wrong, as far as a caller can act on it.
enum class ErrorKind : std::uint8_t {
  invalid,          // the input breaks a rule; retrying does not help
  not_found,        // does not exist, or not for this caller
  unauthenticated,  // missing or unknown credentials
  forbidden,        // known, but not allowed
  conflict,         // clashes with something that exists
  too_large,        // over a limit of size, depth or count
  exhausted,        // a rate or concurrency limit; retrying later may work
  timeout,          // a deadline passed
  cancelled,        // the caller no longer wants the answer
  unreachable,      // provably not sent: no connection could be made
  interrupted,      // the connection broke after bytes may have been sent
  protocol,         // the peer broke the rules of its protocol
  unsupported,      // a version, method or feature this side does not have
  remote,           // the peer answered with an error of its own
  unavailable,      // the peer cannot serve anybody now: HTTP 429 or 5xx; retrying later may work
  internal,         // a fault of this program or its environment
};

std::string_view to_string(ErrorKind kind);

// An error as a value. Use the named factories of `proteus::errors` (and of `proteus::mcp::errors` for errors that the
// protocol defines) where there is one, so that messages agree wherever the same thing goes wrong.
class Error {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }

  // The JSON-RPC code if one is prescribed or was received; 0 if it follows from the kind.
  int rpc_code() const { return rpc_code_; }
  // The `data` member of a JSON-RPC error as JSON text; empty if there is none.
  const std::string& data() const { return data_; }
  // How long to wait before retrying, if the refusing side said so; zero otherwise.
  std::chrono::seconds retry_after() const { return retry_after_; }

  Error with_rpc_code(int code) && {
    rpc_code_ = code;
    return std::move(*this);
  }
  Error with_data(std::string json) && {
    data_ = std::move(json);
    return std::move(*this);
  }
  // Capped at twelve hours.
  Error with_retry_after(std::chrono::seconds wait) && {
    retry_after_ = Wait(static_cast<std::uint16_t>(std::clamp(wait, std::chrono::seconds(0), kLongestWait).count()));
    return std::move(*this);
  }
  // Puts the place in front of the message: "reading banking: connection refused".
  Error within(std::string_view where) &&;

 private:
  using Wait = std::chrono::duration<std::uint16_t>;
  static constexpr std::chrono::seconds kLongestWait = std::chrono::hours(12);

  ErrorKind kind_;
  Wait retry_after_{0};
  int rpc_code_ = 0;
  std::string message_;
  std::string data_;
};

template <class T = void>
using Result = std::expected<T, Error>;

}  // namespace proteus

namespace proteus::errors {

Error invalid(std::string message);
Error not_found(std::string message);
Error unauthenticated(std::string message);
Error forbidden(std::string message);
Error conflict(std::string message);
Error too_large(std::string_view what, std::size_t limit);
Error exhausted(std::string message);
Error timeout(std::string_view what);
Error cancelled(std::string_view what);
Error unreachable(std::string message);
Error interrupted(std::string message);
Error protocol(std::string message);
Error unsupported(std::string message);
Error unavailable(std::string message);
Error internal(std::string message);

}  // namespace proteus::errors
