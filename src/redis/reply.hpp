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

// What Redis answered to one command (RESP2).
struct Reply {
  enum class Kind : std::uint8_t { nothing, status, text, number, list, error };
  Kind kind = Kind::nothing;
  std::int64_t number = 0;
  std::string text = {};  // of a status, a text or an error
  std::vector<Reply> elements = {};

  bool is_error() const { return kind == Kind::error; }
  // The text of a status or a text; nothing for anything else.
  std::optional<std::string_view> string() const;
};

struct ReplyLimits {
  // Of one reply: its texts, with what goes with each element.
  std::size_t bytes = std::size_t{16} << 20U;
};

// Reads replies from bytes as they come, by the parser of hiredis. What it holds is bounded whatever the bytes are.
// Once it has failed it stays so.
class ReplyReader {
 public:
  explicit ReplyReader(ReplyLimits limits = {});
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Call `next` until it has nothing before feeding more.
  void feed(std::string_view bytes);
  // The next whole reply; nothing where it has not come yet. `too_large` or `protocol` where it never can.
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

// Adds a command to bytes for Redis.
void write_command(std::string& out, const std::vector<std::string_view>& words);

}  // namespace proteus::redis
