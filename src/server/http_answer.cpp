#include "server/http_answer.hpp"

#include <algorithm>

#include "net/sse.hpp"
#include "server/http_answers.hpp"

namespace proteus::server {

HttpAnswer HttpAnswer::error(unsigned status, std::string_view id, const Error& error, mcp::Era era,
                             std::string_view fields) {
  HttpAnswer answer = json(mcp::write_error(id, error, era));
  answer.status_ = status;
  answer.fields_ = fields;
  if (std::string own = error_fields(error); !own.empty()) answer.own_fields_ = std::move(own.append(fields));
  return answer;
}

HttpAnswer HttpAnswer::empty(unsigned status) {
  HttpAnswer answer;
  answer.status_ = status;
  return answer;
}

HttpAnswer HttpAnswer::json(std::string body) {
  HttpAnswer answer;
  answer.type_ = kJsonType;
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
                       const mcp::ResultStyle& style)
    : fields_(kJsonFields), frame_(mcp::frame_result(id, method, reply, style)), reply_(std::move(reply)) {}

HttpAnswer::HttpAnswer(std::string frames, std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply,
                       const mcp::ResultStyle& style)
    : fields_(kEventsFields), frame_(mcp::frame_result(id, method, reply, style)), reply_(std::move(reply)) {
  const Parts message = parts();
  const auto is_line = [](std::string_view part) { return net::find_line_end(part) == std::string_view::npos; };
  const bool on_one_line = is_line(message.front()) && is_line(message.back()) &&
                           (reply_.members.on_one_line() || std::ranges::all_of(message, is_line));
  if (on_one_line) {
    frames += kEventBefore;
    behind_ = kEventBehind;
  } else {
    std::string joined;
    for (const std::string_view part : message)
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

}  // namespace proteus::server
