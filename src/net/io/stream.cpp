#include "net/io/stream.hpp"

#include <boost/asio/error.hpp>

namespace proteus::net {

void drop_front(std::vector<std::string_view>& parts, std::size_t count) {
  auto keep = parts.begin();
  while (keep != parts.end() && count >= keep->size())
    count -= (keep++)->size();
  if (keep != parts.end()) keep->remove_prefix(count);
  parts.erase(parts.begin(), keep);
}

Task<IoResult> Stream::read_some(std::span<char> into) {
  while (true) {
    const IoResult got = transport_->try_read(into);
    if (got.error != boost::asio::error::would_block) co_return got;
    if (auto [error] = co_await transport_->wait_readable(); error) co_return IoResult{error, 0};
  }
}

Task<IoResult> Stream::write(std::span<const std::string_view> parts) {
  const IoResult first = transport_->try_write(parts);
  if (first.error && first.error != boost::asio::error::would_block) co_return first;
  std::size_t written = first.size;
  std::vector<std::string_view> rest(parts.begin(), parts.end());
  drop_front(rest, first.size);
  while (!rest.empty()) {
    if (auto [error] = co_await transport_->wait_writable(); error) co_return IoResult{error, written};
    const IoResult more = transport_->try_write(rest);
    written += more.size;
    if (more.error && more.error != boost::asio::error::would_block) co_return IoResult{more.error, written};
    drop_front(rest, more.size);
  }
  co_return IoResult{{}, written};
}

}  // namespace proteus::net
