#include "net/process/line_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace proteus::net {
namespace {

constexpr std::size_t kUsualSize = std::size_t{16} << 10U;

}  // namespace

GrowingMemory LineBuffer::copy_of_rest() const {
  const std::size_t rest = filled_ - begin_;
  GrowingMemory copy;
  copy.grow(std::max(kUsualSize, rest + kPadding), 0);
  if (rest > 0) std::memcpy(copy.data(), bytes_.data() + begin_, rest);
  return copy;
}

std::span<char> LineBuffer::room() {
  const std::size_t unfinished = filled_ - begin_;
  const bool is_large = bytes_.size() > 4 * kUsualSize && unfinished < kUsualSize / 2;
  if (!bytes_ || is_large) {
    // Releases the memory that one long line needed.
    bytes_ = copy_of_rest();
  } else if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, unfinished);
  }
  scanned_ -= begin_;
  filled_ = unfinished;
  begin_ = 0;
  if (bytes_.size() - kPadding - filled_ < kUsualSize / 4) bytes_.grow(2 * bytes_.size(), filled_);
  return {bytes_.data() + filled_, bytes_.size() - kPadding - filled_};
}

std::shared_ptr<const void> LineBuffer::take_memory() {
  GrowingMemory rest = copy_of_rest();
  scanned_ -= begin_;
  filled_ -= begin_;
  begin_ = 0;
  return std::make_shared<const GrowingMemory>(std::exchange(bytes_, std::move(rest)));
}

Result<std::optional<std::string_view>> LineBuffer::take_line() {
  const void* found = scanned_ < filled_ ? std::memchr(bytes_.data() + scanned_, '\n', filled_ - scanned_) : nullptr;
  const std::size_t end = found ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data()) : filled_;
  if (end - begin_ > max_line_bytes_) return std::unexpected(errors::too_large("a line", max_line_bytes_));
  scanned_ = end;
  if (!found) return std::nullopt;
  std::string_view line(bytes_.data() + begin_, end - begin_);
  begin_ = scanned_ = end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace proteus::net
