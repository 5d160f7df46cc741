#include <fmt/format.h>
#include <proteus/error.hpp>

namespace proteus {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid: return "invalid";
    case ErrorKind::not_found: return "not found";
    case ErrorKind::unauthenticated: return "unauthenticated";
    case ErrorKind::forbidden: return "forbidden";
    case ErrorKind::conflict: return "conflict";
    case ErrorKind::too_large: return "too large";
    case ErrorKind::exhausted: return "exhausted";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::cancelled: return "cancelled";
    case ErrorKind::unreachable: return "unreachable";
    case ErrorKind::interrupted: return "interrupted";
    case ErrorKind::protocol: return "protocol";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::remote: return "remote";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

Error Error::within(std::string_view where) && {
  message_ = fmt::format("{}: {}", where, message_);
  return std::move(*this);
}

}  // namespace proteus

namespace proteus::errors {

Error invalid(std::string message) { return {ErrorKind::invalid, std::move(message)}; }
Error not_found(std::string message) { return {ErrorKind::not_found, std::move(message)}; }
Error unauthenticated(std::string message) { return {ErrorKind::unauthenticated, std::move(message)}; }
Error forbidden(std::string message) { return {ErrorKind::forbidden, std::move(message)}; }
Error conflict(std::string message) { return {ErrorKind::conflict, std::move(message)}; }
Error too_large(std::string_view what, std::size_t limit) {
  return {ErrorKind::too_large, fmt::format("{} is over the limit of {}", what, limit)};
}
Error exhausted(std::string message) { return {ErrorKind::exhausted, std::move(message)}; }
Error timeout(std::string_view what) { return {ErrorKind::timeout, fmt::format("{} timed out", what)}; }
Error cancelled(std::string_view what) { return {ErrorKind::cancelled, fmt::format("{} was cancelled", what)}; }
Error unreachable(std::string message) { return {ErrorKind::unreachable, std::move(message)}; }
Error interrupted(std::string message) { return {ErrorKind::interrupted, std::move(message)}; }
Error protocol(std::string message) { return {ErrorKind::protocol, std::move(message)}; }
Error unsupported(std::string message) { return {ErrorKind::unsupported, std::move(message)}; }
Error unavailable(std::string message) { return {ErrorKind::unavailable, std::move(message)}; }
Error internal(std::string message) { return {ErrorKind::internal, std::move(message)}; }

}  // namespace proteus::errors
