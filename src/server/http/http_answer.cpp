#include "server/http/http_answer.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "mcp/insufficient_scope.hpp"
#include "mcp/over_limit.hpp"
#include "net/http/sse.hpp"

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

// Returns the header lines that belong to an error: when to retry.
std::string error_fields(const Error& error) {
  const auto wait = mcp::retry_after(error);
  return wait.count() > 0 ? fmt::format("Retry-After: {}\r\n", wait.count()) : std::string();
}

}  // namespace

HttpAnswer HttpAnswer::error(unsigned status, std::string_view id, const Error& error, mcp::Era era,
                             std::string_view fields) {
  HttpAnswer answer = json(mcp::write_error(id, error, era), fields);
  answer.status_ = status;
  if (std::string own = error_fields(error); !own.empty()) answer.own_fields_ = std::move(own.append(fields));
  return answer;
}

HttpAnswer HttpAnswer::empty(unsigned status) {
  HttpAnswer answer;
  answer.status_ = status;
  return answer;
}

HttpAnswer HttpAnswer::json(std::string body, std::string_view fields) {
  HttpAnswer answer;
  answer.type_ = kJsonType;
  answer.fields_ = fields;
  answer.text_ = std::move(body);
  return answer;
}

HttpAnswer HttpAnswer::events(std::string frames) {
  HttpAnswer answer;
  answer.fields_ = kEventsFields;
  answer.text_ = std::move(frames);
  return answer;
}

HttpAnswer::HttpAnswer(std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply,
                       const mcp::ResultStyle& style, std::string_view fields)
    : type_(fields.empty() ? "" : kJsonType),
      fields_(fields.empty() ? kJsonFields : fields),
      frame_(mcp::frame_result(id, method, reply, style)),
      reply_(std::move(reply)) {}

HttpAnswer::HttpAnswer(std::string frames, std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply,
                       const mcp::ResultStyle& style)
    : fields_(kEventsFields), frame_(mcp::frame_result(id, method, reply, style)), reply_(std::move(reply)) {
  const auto is_line = [](std::string_view part) { return net::find_line_end(part) == std::string_view::npos; };
  bool on_one_line = is_line(frame_.head()) && is_line(frame_.tail());
  if (!reply_.members.on_one_line())
    reply_.members.for_each([&](std::string_view piece) { on_one_line = on_one_line && is_line(piece); });
  if (on_one_line) {
    frames += kEventBefore;
    behind_ = kEventBehind;
  } else {
    std::string joined;
    for (const std::string_view part : parts())
      joined += part;
    append_sse_frame(frames, std::move(joined));
    joined_ = true;
  }
  text_ = std::move(frames);
}

HttpAnswer::Parts HttpAnswer::parts() const {
  Parts parts;
  if (!text_.empty()) parts.push_back(text_);
  if (!joined_ && !frame_.head().empty()) {
    parts.push_back(frame_.head());
    reply_.members.for_each([&](std::string_view piece) { parts.push_back(piece); });
    parts.push_back(frame_.tail());
  }
  if (!behind_.empty()) parts.push_back(behind_);
  return parts;
}

Task<> reply(net::Exchange& exchange, HttpAnswer answer) {
  const HttpAnswer::Parts parts = answer.parts();
  if (!exchange.try_reply(answer.head(), {parts.data(), parts.size()})) co_await exchange.finish_reply();
}

unsigned legacy_status(const Error& error) {
  if (mcp::lacks_scope(error)) return 403;
  return mcp::retry_after(error).count() > 0 ? 429 : 200;
}

bool accepts_both(const net::Request& request) {
  // The value that nearly every client sends.
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

std::string_view authorization_of(const net::Request& request) {
  return request.fields().find("Authorization").value_or("");
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
