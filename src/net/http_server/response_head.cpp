#include "net/http_server/response_head.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "net/http/field_text.hpp"
#include "net/http/token.hpp"

namespace proteus::net {
namespace {

struct Status {
  unsigned code;
  std::string_view line;
};

constexpr std::array kStatuses = {
    Status{100, "HTTP/1.1 100 Continue\r\n"},
    Status{200, "HTTP/1.1 200 OK\r\n"},
    Status{201, "HTTP/1.1 201 Created\r\n"},
    Status{202, "HTTP/1.1 202 Accepted\r\n"},
    Status{204, "HTTP/1.1 204 No Content\r\n"},
    Status{206, "HTTP/1.1 206 Partial Content\r\n"},
    Status{301, "HTTP/1.1 301 Moved Permanently\r\n"},
    Status{302, "HTTP/1.1 302 Found\r\n"},
    Status{303, "HTTP/1.1 303 See Other\r\n"},
    Status{304, "HTTP/1.1 304 Not Modified\r\n"},
    Status{307, "HTTP/1.1 307 Temporary Redirect\r\n"},
    Status{308, "HTTP/1.1 308 Permanent Redirect\r\n"},
    Status{400, "HTTP/1.1 400 Bad Request\r\n"},
    Status{401, "HTTP/1.1 401 Unauthorized\r\n"},
    Status{403, "HTTP/1.1 403 Forbidden\r\n"},
    Status{404, "HTTP/1.1 404 Not Found\r\n"},
    Status{405, "HTTP/1.1 405 Method Not Allowed\r\n"},
    Status{406, "HTTP/1.1 406 Not Acceptable\r\n"},
    Status{408, "HTTP/1.1 408 Request Timeout\r\n"},
    Status{409, "HTTP/1.1 409 Conflict\r\n"},
    Status{410, "HTTP/1.1 410 Gone\r\n"},
    Status{411, "HTTP/1.1 411 Length Required\r\n"},
    Status{412, "HTTP/1.1 412 Precondition Failed\r\n"},
    Status{413, "HTTP/1.1 413 Content Too Large\r\n"},
    Status{414, "HTTP/1.1 414 URI Too Long\r\n"},
    Status{415, "HTTP/1.1 415 Unsupported Media Type\r\n"},
    Status{417, "HTTP/1.1 417 Expectation Failed\r\n"},
    Status{421, "HTTP/1.1 421 Misdirected Request\r\n"},
    Status{422, "HTTP/1.1 422 Unprocessable Content\r\n"},
    Status{428, "HTTP/1.1 428 Precondition Required\r\n"},
    Status{429, "HTTP/1.1 429 Too Many Requests\r\n"},
    Status{431, "HTTP/1.1 431 Request Header Fields Too Large\r\n"},
    Status{500, "HTTP/1.1 500 Internal Server Error\r\n"},
    Status{501, "HTTP/1.1 501 Not Implemented\r\n"},
    Status{502, "HTTP/1.1 502 Bad Gateway\r\n"},
    Status{503, "HTTP/1.1 503 Service Unavailable\r\n"},
    Status{504, "HTTP/1.1 504 Gateway Timeout\r\n"},
    Status{505, "HTTP/1.1 505 HTTP Version Not Supported\r\n"},
};

}  // namespace

std::string_view status_line(unsigned status) {
  if (status == 200) return kStatuses[1].line;
  const auto found = std::ranges::lower_bound(kStatuses, status, {}, &Status::code);
  if (found == kStatuses.end() || found->code != status) {
    throw std::invalid_argument(fmt::format("no HTTP status {}", status));
  }
  return found->line;
}

std::string_view reason_phrase(unsigned status) {
  std::string_view line = status_line(status);
  line.remove_prefix(std::string_view("HTTP/1.1 200 ").size());
  line.remove_suffix(2);
  return line;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  if (!is_token(name) || has_control(value)) {
    throw std::invalid_argument(fmt::format("header field {:?} cannot be sent", name));
  }
  out.append(name).append(": ").append(value).append("\r\n");
}

std::string field_lines(std::span<const Field> fields) {
  std::string out;
  for (const auto& [name, value] : fields)
    append_field(out, name, value);
  return out;
}

}  // namespace proteus::net
