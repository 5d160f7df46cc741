#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http/fields.hpp"
#include "net/http/head_lines.hpp"

namespace proteus::net {

// What nearly every answer's head is: HTTP/1.1, a field to a line, and nothing that could be understood in two ways.
// Read here, it costs a fraction of a parser for all that there may be; anything else is left to that one.
class PlainHead {
 public:
  // The size of a head that is the same as the last one, byte for byte; 0 where `bytes` begins with another.
  std::size_t read_again(std::string_view bytes, Fields& fields, std::size_t max_fields);
  // False for a head that is not plain, or has more fields; nothing else holds then. `head` is whole.
  bool read(std::string_view head, Fields& fields, std::size_t max_fields);

  unsigned status() const { return said_.status; }
  bool chunked() const { return said_.chunked; }
  bool close() const { return said_.close; }
  std::optional<std::uint64_t> content_length() const { return said_.length; }

 private:
  struct Said {
    unsigned status = 0;
    bool chunked = false;
    bool close = false;
    std::optional<std::uint64_t> length;
  };

  bool read_status(std::string_view line);
  bool read_field(std::string_view line, std::size_t at, Fields& fields);
  bool interpret(FieldMeaning meaning, std::string_view value);
  bool read_length(std::string_view value);
  bool read_connection(std::string_view value);

  HeadLines lines_;
  Said said_;
  Said last_said_;  // by the head that `lines_` is of
};

}  // namespace proteus::net
