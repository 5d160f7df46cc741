#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "net/http/chunked.hpp"
#include "net/http/fields.hpp"
#include "net/http_client/plain_head.hpp"

namespace proteus::net {

struct ResponseLimits {
  std::size_t head_bytes = std::size_t{64} << 10U;  // of the answer and of interim ones before it
  std::size_t fields = 256;
};

// Whether the request allows its answer to have a body: those to HEAD and CONNECT have none, whatever their
// fields say.
enum class AnswerBody : std::uint8_t { allowed, none };

// Parses one HTTP/1.1 response out of a buffer that its owner fills. Copies nothing but folded field values,
// keeps no bytes, does no I/O.
class ResponseParser {
 public:
  // Starts over.
  void begin(ResponseLimits limits, AnswerBody body);

  // Looks for the head in all bytes received so far. Returns where it ends, or 0 as long as it has not.
  // Interim (1xx) responses are skipped. Once the head is there `fields` hold views of `bytes`.
  Result<std::size_t> parse_head(std::string_view bytes, Fields& fields);

  // The rest holds once the head was parsed.
  unsigned status() const { return status_; }
  // Whether the response ends here.
  bool is_done() const;
  // Whether the connection can be used again after it.
  bool keep_alive() const { return keep_alive_; }
  // How long the body is, where the head says so.
  std::optional<std::uint64_t> content_length() const;

  using Decoded = ChunkedDecoder::Decoded;
  // Takes the framing off received bytes of the body, in place. Bytes after the response are not consumed.
  Result<Decoded> decode(std::span<char> bytes);

  // The connection was closed in order. Ends a response that has no other end; for others it is
  // `interrupted`.
  Result<> end_of_stream();

 private:
  enum class Framing : std::uint8_t { none, length, chunked, until_close };

  Result<std::size_t> parse_next_head(std::string_view bytes, Fields& fields);
  Result<> parse_whole_head(std::string_view head, Fields& fields);
  void take_plain();

  ResponseLimits limits_;
  AnswerBody body_ = AnswerBody::allowed;
  std::size_t begin_ = 0;    // of the head that is looked for
  std::size_t scanned_ = 0;  // its end is not before this

  unsigned status_ = 0;
  bool keep_alive_ = false;
  bool closed_ = false;
  Framing framing_ = Framing::none;
  std::uint64_t length_ = 0;
  std::uint64_t left_ = 0;  // of a body with a length
  ChunkedDecoder chunks_;
  PlainHead plain_;
  std::vector<std::string> folded_;  // field values that were spread over several lines
};

}  // namespace proteus::net
