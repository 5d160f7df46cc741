#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/http/fields.hpp"

namespace proteus::net {

// Status and fields of an answer, as views of what the caller owns. Date, Content-Length, Transfer-Encoding
// and Connection are the server's and must not be among the fields.
struct ResponseHead {
  unsigned status = 200;
  std::string_view content_type = {};  // left out if empty
  std::span<const Field> fields = {};
  // Lines made beforehand, by `field_lines`, for answers that are given often.
  std::string_view prepared = {};
};

// "Name: value\r\n" for each. Throws std::invalid_argument for a name that is no token or a value that holds
// control characters: it would end the field, or the head.
std::string field_lines(std::span<const Field> fields);
void append_field(std::string& out, std::string_view name, std::string_view value);

// "HTTP/1.1 404 Not Found\r\n"
std::string_view status_line(unsigned status);
std::string_view reason_phrase(unsigned status);

// Whether an answer with this status may carry a body (RFC 9110, 6.4.1).
constexpr bool may_have_body(unsigned status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace proteus::net
