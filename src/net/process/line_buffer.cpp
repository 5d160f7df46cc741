#include "net/process/line_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace proteus::net {
namespace {

constexpr std::size_t kUsualSize = std::size_t{16} << 10U;

}  // namespace

std::span<char> LineBuffer::room() {
  const std::size_t unfinished = filled_ - begin_;
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, unfinished);
    scanned_ -= begin_;
    filled_ = unfinished;
    begin_ = 0;
  }
  // What one long line needed is given back.
  if (bytes_.size() > 4 * kUsualSize && unfinished < kUsualSize / 2) {
    bytes_.resize(kUsualSize);
    bytes_.shrink_to_fit();
  }
  if (bytes_.size() < kUsualSize) bytes_.resize(kUsualSize);
  if (bytes_.size() - kPadding - filled_ < kUsualSize / 4) bytes_.resize(2 * bytes_.size());
  return std::span(bytes_).subspan(filled_, bytes_.size() - kPadding - filled_);
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
