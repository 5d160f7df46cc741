#include "server/call.hpp"

namespace proteus::server {

const mcp::ClientCapabilities& Call::client() {
  if (!client_)
    client_ = mcp::parse_client_capabilities(request_.client_capabilities).value_or(mcp::ClientCapabilities{});
  return *client_;
}

void Call::progress(const mcp::Progress& progress) {
  if (request_.progress_token.empty()) return;
  channel_.send(mcp::progress_notification(request_.progress_token, progress));
}

void Call::log(mcp::LogLevel level, std::string_view logger, std::string_view data_json) {
  if (!request_.log_level || level < *request_.log_level) return;
  channel_.send(mcp::log_notification(level, logger, data_json));
}

}  // namespace proteus::server
