#include "server/http_answers.hpp"

#include <algorithm>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "mcp/over_limit.hpp"
#include "net/sse.hpp"

namespace proteus::server {
namespace {

bool contains_type(std::string_view list, std::string_view type) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    std::string_view item = list.substr(at, comma - at);
    item = item.substr(0, item.find(';'));
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t'))
      item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t'))
      item.remove_suffix(1);
    const bool subtype_wild = item.ends_with("/*") && type.starts_with(item.substr(0, item.size() - 1));
    if (item == "*/*" || subtype_wild || net::same_field_name(item, type)) return true;
    at = comma + 1;
  }
  return false;
}

}  // namespace

Task<> reply_empty(net::Exchange& exchange, unsigned status, std::string_view fields) {
  co_await exchange.reply({.status = status, .prepared = fields});
}

Task<> reply_json(net::Exchange& exchange, unsigned status, std::string_view body, std::string_view fields) {
  const std::array parts = {body};
  co_await exchange.reply({.status = status, .content_type = kJsonType, .prepared = fields}, parts);
}

std::string error_fields(const Error& error) {
  const auto wait = mcp::retry_after(error);
  return wait.count() > 0 ? fmt::format("Retry-After: {}\r\n", wait.count()) : std::string();
}

unsigned legacy_status(const Error& error) { return mcp::retry_after(error).count() > 0 ? 429 : 200; }

Task<> reply_error(net::Exchange& exchange, unsigned status, std::string_view id, const Error& error, mcp::Era era,
                   std::string_view fields) {
  const std::string body = mcp::write_error(id, error, era);
  const std::string all_fields = error_fields(error).append(fields);
  co_await reply_json(exchange, status, body, all_fields);
}

Task<> reply_result(net::Exchange& exchange, std::string_view id, const mcp::MethodInfo& method,
                    const mcp::Reply& reply, const mcp::ResultStyle& style, std::string_view fields) {
  const mcp::ResultFrame frame = mcp::frame_result(id, method, reply, style);
  boost::container::small_vector<std::string_view, 8> parts;
  parts.push_back(frame.head());
  reply.members.for_each([&](std::string_view piece) { parts.push_back(piece); });
  parts.push_back(frame.tail());
  co_await exchange.reply({.status = 200, .content_type = kJsonType, .prepared = fields}, {parts.data(), parts.size()});
}

bool accepts_both(const net::Request& request) {
  // What nearly every client sends.
  if (request.fields().find("Accept") == "application/json, text/event-stream") return true;
  return accepts(request, kJsonType) && accepts(request, kEventsType);
}

bool accepts(const net::Request& request, std::string_view type) {
  bool any = false;
  for (const auto& field : request.fields()) {
    if (!net::same_field_name(field.name, "Accept")) continue;
    any = true;
    if (contains_type(field.value, type)) return true;
  }
  return !any;
}

std::optional<std::string_view> repeated_metadata(const net::Request& request) {
  constexpr std::string_view kPrefix = "Mcp-";
  for (const auto& field : request.fields()) {
    if (field.name.size() <= kPrefix.size() || field.name[3] != '-') continue;
    if (!net::same_field_name(field.name.substr(0, kPrefix.size()), kPrefix)) continue;
    if (request.fields().count(field.name) > 1) return field.name;
  }
  return std::nullopt;
}

void join_lines(std::string& message) {
  // Hardly ever there.
  for (std::size_t at = 0; (at = net::find_line_end(message, at)) != std::string::npos; ++at)
    message[at] = ' ';
}

void append_sse_frame(std::string& frames, std::string message) {
  join_lines(message);
  frames.reserve(frames.size() + 2 * kEventBefore.size() + message.size() + kEventBehind.size());  // one more follows
  frames.append(kEventBefore).append(message).append(kEventBehind);
}

std::string sse_frame(std::string message) {
  std::string frame;
  append_sse_frame(frame, std::move(message));
  return frame;
}

Task<bool> stream_events(net::Exchange& exchange, std::shared_ptr<Outbox> outbox,
                         std::chrono::milliseconds keep_alive) {
  bool open = co_await exchange.begin_stream({.status = 200, .prepared = kEventsFields});
  while (open) {
    const auto event = co_await outbox->wait(keep_alive);
    if (event == Outbox::Event::closed) break;
    if (event == Outbox::Event::idle) {
      open = co_await exchange.write(kComment);
      continue;
    }
    const std::vector<std::string> frames = outbox->take();
    const std::vector<std::string_view> parts(frames.begin(), frames.end());
    open = co_await exchange.write(parts);
  }
  outbox->close();
  co_return open&& co_await exchange.end_stream();
}

}  // namespace proteus::server
