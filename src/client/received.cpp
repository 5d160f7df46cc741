#include "client/received.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "json/text.hpp"

namespace proteus::client {

Result<Received> Received::scan(std::string bytes, const json::ScanLimits& limits) {
  Received received;
  received.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  auto message = json::scan(*received.bytes_, limits);
  if (!message) {
    if (message.error().kind() == ErrorKind::too_large)
      return std::unexpected(std::move(message.error()).within("a message of the server"));
    return std::unexpected(
        errors::protocol(fmt::format("the server sent what is no message: {}: {}", message.error().message(),
                                     log::printable(*received.bytes_, 80))));
  }
  received.message_ = std::move(*message);
  return received;
}

Result<boost::json::value> Received::value() const { return json::parse(result()); }

}  // namespace proteus::client
