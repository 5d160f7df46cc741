#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <proteus/error.hpp>

namespace proteus::net {

// Takes the chunked transfer coding (RFC 9112, 7.1) off a body, in place. Extensions and trailers are
// skipped.
//
// Not Beast's: that one keeps the bytes of unfinished framing for later, and fails an assertion when an empty
// body is cut before its last byte.
class ChunkedDecoder {
 public:
  struct Decoded {
    std::size_t consumed = 0;  // all bytes, unless the body ends before
    std::size_t produced = 0;  // how many bytes of the body they held; these were moved to the front
  };
  Result<Decoded> decode(std::span<char> bytes);

  bool is_done() const { return state_ == State::done; }

 private:
  enum class State : std::uint8_t {
    size,       // digits of a chunk's size
    blanks,     // behind them
    extension,  // the rest of that line
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
  std::uint64_t size_ = 0;         // of the chunk, or what is left of it
  std::size_t framing_bytes_ = 0;  // of a size with its extensions, or of trailers, in a row
};

}  // namespace proteus::net
