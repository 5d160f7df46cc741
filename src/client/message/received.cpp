#include "client/message/received.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/memory/recycled.hpp"
#include "json/text.hpp"

namespace proteus::client {

namespace {

// Returns the beginning of text that is not a message, such as what a program prints by mistake. Returns nothing for
// text that begins like a message: it may be a caller's result, which is never logged.
std::string excerpt_of(std::string_view bytes) {
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] == '{' || bytes[first] == '[') return {};
  return ": " + log::printable(bytes, 80);
}

Error unreadable(Error error, std::string_view bytes) {
  if (error.kind() == ErrorKind::too_large) return std::move(error).within("a message of the server");
  return errors::protocol(fmt::format("the server sent what is no message: {}{}", error.message(), excerpt_of(bytes)));
}

}  // namespace

struct Received::Content {
  std::shared_ptr<const void> bytes;
  json::Message message = {};
};

Error naming_limit(Error error, std::size_t message_bytes) {
  if (error.kind() != ErrorKind::too_large || !error.message().contains(fmt::format("{}", message_bytes))) return error;
  return {ErrorKind::too_large, fmt::format("{} bytes, which max_message_bytes sets", error.message())};
}

OwnedText OwnedText::copy_of(std::string_view text) {
  auto copy = std::make_shared<const std::string>(text);
  const std::string_view view = *copy;
  return {view, std::move(copy)};
}

Result<Received> Received::scan(std::string bytes, const json::ScanLimits& limits) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return scan(*owner, owner, limits);
}

Result<Received> Received::scan(std::string_view bytes, std::shared_ptr<const void> owner,
                                const json::ScanLimits& limits) {
  Received received;
  received.content_ = make_recycled<Content>(std::move(owner));
  if (auto scanned = received.read(bytes, limits); !scanned) return std::unexpected(std::move(scanned.error()));
  return received;
}

Result<void> Received::rescan(std::string_view bytes, const std::shared_ptr<const void>& owner,
                              const json::ScanLimits& limits) {
  on_one_line_ = false;
  if (content_ && content_.use_count() == 1 && content_->bytes == owner) {
    std::destroy_at(&content_->message);
    std::construct_at(&content_->message);
  } else {
    content_ = make_recycled<Content>(owner);
  }
  return read(bytes, limits);
}

Result<void> Received::read(std::string_view bytes, const json::ScanLimits& limits) {
  auto scanned = json::scan_into(content_->message, bytes, limits);
  if (!scanned) return std::unexpected(unreadable(std::move(scanned.error()), bytes));
  return {};
}

Received Received::copy() const {
  // The message has passed its limits before.
  const json::ScanLimits any{.bytes = text().size(), .depth = 1024, .members = text().size()};
  return scan(std::string(text()), any).value_or(Received());
}

const json::Message& Received::message() const {
  static const json::Message nothing;
  return content_ ? content_->message : nothing;
}

Result<std::vector<Received>> scan_messages(std::string_view bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version) {
  return scan_messages(OwnedText{bytes, nullptr}, limits, version);
}

Result<std::vector<Received>> scan_messages(const OwnedText& bytes, const json::ScanLimits& limits,
                                            std::optional<mcp::Version> version) {
  constexpr std::size_t kMaxBatch = 100;
  std::vector<std::string_view> texts = {bytes.text};
  if (version == mcp::Version::v2025_03_26 && bytes.text.starts_with('[')) {
    auto batch = json::elements_of(bytes.text, kMaxBatch, limits);
    if (!batch) return std::unexpected(unreadable(std::move(batch.error()), bytes.text));
    texts = std::move(*batch);
  }
  std::vector<Received> messages;
  for (const auto text : texts) {
    auto message = bytes.owner ? Received::scan(text, bytes.owner, limits) : Received::scan(std::string(text), limits);
    if (!message) return std::unexpected(std::move(message.error()));
    messages.push_back(std::move(*message));
  }
  return messages;
}

Task<Result<Received>> scan_aside(BackgroundThreads& background, OwnedText bytes, json::ScanLimits limits) {
  bytes.owner = background.ending_here(std::move(bytes.owner));
  co_return co_await background.run(
      [bytes = std::move(bytes), limits] { return Received::scan(bytes.text, bytes.owner, limits); });
}

Task<Result<std::vector<Received>>> scan_messages_aside(BackgroundThreads& background, OwnedText bytes,
                                                        json::ScanLimits limits, std::optional<mcp::Version> version) {
  bytes.owner = background.ending_here(std::move(bytes.owner));
  co_return co_await background.run(
      [bytes = std::move(bytes), limits, version] { return scan_messages(bytes, limits, version); });
}

Result<boost::json::value> Received::value() const { return json::parse(result()); }

}  // namespace proteus::client
