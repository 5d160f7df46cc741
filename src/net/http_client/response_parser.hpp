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
  std::size_t head_bytes = std::size_t{64} << 10U;  // of the head, with interim responses before it
  std::size_t fields = 256;
};

// Whether the request allows its response to have a body. Responses to HEAD and CONNECT have none, whatever their
// fields say.
enum class AnswerBody : std::uint8_t { allowed, none };

// Parses HTTP/1.1 responses, one after the other, from a buffer that its owner fills. Copies nothing but folded field
// values, keeps no bytes, does no I/O.
class ResponseParser {
 public:
  // Starts a new response.
  void begin(ResponseLimits limits, AnswerBody body);

  // Parses the head from all bytes received so far. Returns the position of its end, or 0 if it is incomplete. Skips
  // interim (1xx) responses. Once the head is complete, `fields` has views of `bytes`.
  Result<std::size_t> parse_head(std::string_view bytes, Fields& fields);

  // The members below are valid once the head has been parsed.
  unsigned status() const { return status_; }
  // Whether the response is complete.
  bool is_done() const;
  // Whether the connection can be reused after the response.
  bool keep_alive() const { return keep_alive_; }
  // Returns the length of the body if it is known from the head; 0 for a response without a body.
  std::optional<std::uint64_t> content_length() const;

  using Decoded = ChunkedDecoder::Decoded;
  // Removes the framing from received bytes of the body, in place. Does not consume bytes after the response.
  Result<Decoded> decode(std::span<char> bytes);

  // Notes that the host closed the connection in order, which ends a response that has no other end. Fails with
  // `interrupted` if the response is incomplete.
  Result<> end_of_stream();

 private:
  enum class Framing : std::uint8_t { none, length, chunked, until_close };

  Result<std::size_t> parse_next_head(std::string_view bytes, Fields& fields);
  Result<> parse_whole_head(std::string_view head, Fields& fields);
  void take_plain();

  ResponseLimits limits_;
  AnswerBody body_ = AnswerBody::allowed;
  std::size_t begin_ = 0;    // start of the head that is being parsed
  std::size_t scanned_ = 0;  // relative to `begin_`; the head does not end before it

  unsigned status_ = 0;
  bool keep_alive_ = false;
  bool closed_ = false;
  Framing framing_ = Framing::none;
  std::uint64_t length_ = 0;
  std::uint64_t left_ = 0;  // rest of a body with a length
  ChunkedDecoder chunks_;
  PlainHead plain_;
  std::vector<std::string> folded_;  // field values that span several lines
};

}  // namespace proteus::net
