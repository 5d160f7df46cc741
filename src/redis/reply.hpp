#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

struct redisReader;

namespace proteus::redis {

// The answer of Redis to one command (RESP2).
struct Reply {
  enum class Kind : std::uint8_t { nothing, status, text, number, list, error };
  Kind kind = Kind::nothing;
  std::int64_t number = 0;
  std::string text = {};  // of a status, a text or an error
  std::vector<Reply> elements = {};

  bool is_error() const { return kind == Kind::error; }
  // Returns the text of a status or a text; nothing for other kinds.
  std::optional<std::string_view> string() const;
};

struct ReplyLimits {
  // Limit of one reply: its texts, and the overhead of each element.
  std::size_t bytes = std::size_t{16} << 20U;
};

// Reads replies from bytes as they arrive, with the parser of hiredis. Its memory is bounded whatever the bytes are.
// Once it has failed, it keeps failing.
class ReplyReader {
 public:
  explicit ReplyReader(ReplyLimits limits = {});
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Call `next` until it returns nothing before feeding more.
  void feed(std::string_view bytes);
  // Returns the next complete reply; nothing if it has not arrived yet. Fails with `too_large` or `protocol` if it
  // never can.
  Result<std::optional<Reply>> next();

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };
  struct Making;  // the reply that is being read

  const ReplyLimits limits_;
  std::unique_ptr<Making> making_;
  std::unique_ptr<redisReader, Free> reader_;
  bool is_over_ = false;
};

// Appends a command, as Redis reads it, to `out`.
void write_command(std::string& out, const std::vector<std::string_view>& words);

}  // namespace proteus::redis
