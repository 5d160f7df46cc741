#include "server/core/call.hpp"

#include <atomic>
#include <random>

#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "server/core/session.hpp"

namespace proteus::server {

const mcp::ClientCapabilities& Call::client() {
  if (!client_)
    client_ = mcp::parse_client_capabilities(request_->client_capabilities).value_or(mcp::ClientCapabilities{});
  return *client_;
}

Task<Result<std::string>> Call::ask(mcp::InputRequest question) {
  if (session_ == nullptr) co_return std::unexpected(errors::unsupported("a client without a session cannot be asked"));
  question.key.clear();
  mcp::InputRequired required;
  required.requests.push_back(std::move(question));
  const std::string missing = missing_capabilities(required, client());
  if (!missing.empty()) {
    co_return std::unexpected(errors::unsupported(fmt::format("the client does not offer {}", missing)));
  }
  const auto asked = co_await session_->client_requests().ask(required, *this, channel_, asking_);
  if (!asked) co_return std::unexpected(asked.error());
  co_return std::move(rounds_.answers.extract(std::string()).mapped());
}

const std::string& Call::log_id() {
  static const std::uint32_t process = std::random_device{}();
  static std::atomic<std::uint64_t> last = 0;
  if (log_id_.empty()) log_id_ = fmt::format("{:08x}-{}", process, ++last);
  return log_id_;
}

void Call::progress(const mcp::Progress& progress) {
  if (request_->progress_token.empty()) return;
  channel_.send(mcp::progress_notification(request_->progress_token, progress));
}

void Call::log(mcp::LogLevel level, std::string_view logger, std::string_view data_json) {
  if (!request_->log_level || level < *request_->log_level) return;
  channel_.send(mcp::log_notification(level, logger, data_json));
}

}  // namespace proteus::server
