#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/http/fields.hpp"

namespace proteus::net {

// Status and fields of a response, as views of memory that the caller owns. The server itself sets Date,
// Content-Length, Transfer-Encoding and Connection; the fields must not include them.
struct ResponseHead {
  unsigned status = 200;
  std::string_view content_type = {};  // omitted if empty
  std::span<const Field> fields = {};
  // Lines from `field_lines`, for responses that are sent often.
  std::string_view prepared = {};
};

// Returns "Name: value\r\n" for each field. Throws std::invalid_argument if a name is not a token or a value contains
// control characters, which could end the field or the head.
std::string field_lines(std::span<const Field> fields);
void append_field(std::string& out, std::string_view name, std::string_view value);

// Returns a line like "HTTP/1.1 404 Not Found\r\n". Throws std::invalid_argument for an unknown status.
std::string_view status_line(unsigned status);
std::string_view reason_phrase(unsigned status);

// Whether a response with this status may have a body (RFC 9110, section 6.4.1).
constexpr bool may_have_body(unsigned status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace proteus::net
