#pragma once

#include <string>
#include <string_view>

namespace proteus::net {

// Why a request is rejected: an HTTP status, and a sentence for the reader of the response.
struct Refusal {
  unsigned status = 400;
  std::string_view detail;
};

// Returns the response with which the server itself rejects any request: a problem document (RFC 9457). The connection
// is closed afterwards. `fields` are whole header lines, or empty.
std::string refusal_answer(const Refusal& refusal, std::string_view fields, bool with_body = true);

}  // namespace proteus::net
