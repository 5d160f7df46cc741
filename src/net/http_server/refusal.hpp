#pragma once

#include <string>
#include <string_view>

namespace proteus::net {

// Why a request is not served: an HTTP status and a sentence for whoever reads the answer.
struct Refusal {
  unsigned status = 400;
  std::string_view detail;
};

// The one form in which the server itself says no: a problem document (RFC 9457), after which it closes.
// `fields` are whole lines of its head, or nothing.
std::string refusal_answer(const Refusal& refusal, std::string_view fields, bool with_body = true);

}  // namespace proteus::net
