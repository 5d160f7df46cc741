#include "net/http_server/refusal.hpp"

#include <fmt/format.h>

#include "net/http_server/response_head.hpp"

namespace proteus::net {

std::string refusal_answer(const Refusal& refusal, std::string_view fields, bool with_body) {
  const std::string body = fmt::format(R"({{"type":"about:blank","title":"{}","status":{},"detail":"{}"}})",
                                       reason_phrase(refusal.status), refusal.status, refusal.detail);
  return fmt::format("{}{}Content-Type: application/problem+json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                     status_line(refusal.status), fields, body.size(), with_body ? body : "");
}

}  // namespace proteus::net
