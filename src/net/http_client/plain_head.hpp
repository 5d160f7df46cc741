#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http/fields.hpp"
#include "net/http/head_lines.hpp"

namespace proteus::net {

// A parser for the form that nearly every response head has: HTTP/1.1, one line per field, and nothing ambiguous. Costs
// a fraction of a complete parser, to which all other heads are left.
class PlainHead {
 public:
  // Returns the size of the head if `bytes` begin with the last head again, byte for byte; otherwise 0.
  std::size_t read_again(std::string_view bytes, Fields& fields, std::size_t max_fields);
  // Parses a complete head. Returns false if it is not plain or has too many fields; nothing else is valid then.
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
  Said last_said_;  // of the head in `lines_`
};

}  // namespace proteus::net
