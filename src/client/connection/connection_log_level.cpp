// Tells a legacy server which log messages to send.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "client/connection/connection.hpp"

namespace proteus::client {
namespace {

bool is_final_for_log_level(const Error& error) {
  return error.kind() == ErrorKind::remote || error.kind() == ErrorKind::timeout ||
         error.kind() == ErrorKind::not_found;
}

}  // namespace

Task<Result<>> Connection::set_log_level(mcp::LogLevel level) {
  auto opened = co_await open();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  const auto before = std::exchange(log_level_, level);
  if ((*opened)->era() == mcp::Era::modern) {
    wanted_log_level_ = level;
    co_return Result<>{};
  }
  // A server that refuses the level, or is silent, is not asked again, because each call would wait for it. One that
  // could not be asked is.
  bool asked = false;
  ++setting_log_level_;
  const std::shared_ptr<void> end(nullptr, [&](void*) {
    --setting_log_level_;
    if (!asked && log_level_ == level) log_level_ = before;
  });
  Params params;
  params.members.add(fmt::format(R"("level":"{}")", mcp::to_string(level)));
  auto answer = co_await request(mcp::Method::set_log_level, std::move(params));
  asked = answer || is_final_for_log_level(answer.error());
  if (asked) wanted_log_level_ = level;
  // Where status 404 is the answer, each further request for the level would cost a session.
  restores_log_level_ = answer || answer.error().kind() != ErrorKind::not_found;
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  co_return Result<>{};
}

Task<> Connection::restore_log_level(mcp::LogLevel level) {
  log_level_.reset();
  const auto set = co_await set_log_level(level);
  if (!set) options_.log->warning("the log level was not set again: {}", set.error().message());
}

}  // namespace proteus::client
