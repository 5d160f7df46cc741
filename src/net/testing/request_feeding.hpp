#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "net/http_server/request_reader.hpp"

// For tests: feeds a request reader with bytes, in pieces of any size.
namespace proteus::net::test {

// Advances past the head at once, as if the body had been requested.
inline RequestReader::Step advance(RequestReader& reader) {
  const RequestReader::Step step = reader.advance();
  return step == RequestReader::Step::head ? reader.advance() : step;
}

// Feeds bytes until the reader needs no more of them, and returns its last step.
inline RequestReader::Step feed(RequestReader& reader, std::string_view bytes,
                                std::size_t piece = std::string_view::npos) {
  RequestReader::Step step = advance(reader);
  while (step == RequestReader::Step::need_bytes && !bytes.empty()) {
    const std::span<char> space = reader.space();
    const std::size_t count = std::min({piece, bytes.size(), space.size()});
    if (count > 0) std::memcpy(space.data(), bytes.data(), count);
    reader.commit(count);
    bytes.remove_prefix(count);
    step = advance(reader);
  }
  return step;
}

// Returns the status with which bytes are rejected, both at once and one by one.
inline unsigned refusal_of(std::string_view bytes, const HttpLimits& limits = {}) {
  for (const std::size_t piece : {std::string_view::npos, std::size_t{1}}) {
    RequestReader reader(limits);
    const RequestReader::Step step = feed(reader, bytes, piece);
    if (step != RequestReader::Step::refused) return static_cast<unsigned>(step);
    if (piece == 1) return reader.refusal().status;
  }
  return 0;
}

}  // namespace proteus::net::test
