#include "client/received.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/listing.hpp"
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

Result<std::vector<Received>> scan_messages(std::string_view bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version) {
  constexpr std::size_t kMaxBatch = 100;
  std::vector<std::string_view> texts = {bytes};
  if (version == mcp::Version::v2025_03_26 && bytes.starts_with('[')) {
    auto batch = elements_of(bytes, kMaxBatch);
    if (!batch) return std::unexpected(std::move(batch.error()));
    texts = std::move(*batch);
  }
  std::vector<Received> messages;
  for (const auto text : texts) {
    auto message = Received::scan(std::string(text), limits);
    if (!message) return std::unexpected(std::move(message.error()));
    messages.push_back(std::move(*message));
  }
  return messages;
}

Result<boost::json::value> Received::value() const { return json::parse(result()); }

}  // namespace proteus::client
