#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <proteus/error.hpp>

namespace proteus::net {

// Removes the chunked transfer coding (RFC 9112, 7.1) from a body, in place. Skips extensions and trailers.
//
// Beast's decoder is not used, because it keeps the bytes of unfinished framing for later, and fails an assertion if an
// empty body is cut before its last byte.
class ChunkedDecoder {
 public:
  struct Decoded {
    std::size_t consumed = 0;  // all bytes, unless the body ends earlier
    std::size_t produced = 0;  // bytes of the body among them, which were moved to the front
  };
  Result<Decoded> decode(std::span<char> bytes);

  bool is_done() const { return state_ == State::done; }

 private:
  enum class State : std::uint8_t {
    size,       // digits of a chunk's size
    blanks,     // blanks after the size
    extension,  // the rest of the size's line
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer,  // at the start of a line after the last chunk
    trailer_line,
    trailer_lf,
    last_lf,
    done,
  };

  Result<> take(char c);
  Result<> take_size(char c);
  Result<> end_size(char c);

  State state_ = State::size;
  bool has_digits_ = false;
  std::uint64_t size_ = 0;         // size of the chunk, or of the rest of it
  std::size_t framing_bytes_ = 0;  // bytes of the current size and extensions, or of all trailers
};

}  // namespace proteus::net
