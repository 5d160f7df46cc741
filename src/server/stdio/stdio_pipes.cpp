#include "server/stdio/stdio_pipes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log/log.hpp"

namespace proteus::server {
namespace {

// Bytes that may wait for a client that does not read.
constexpr std::size_t kMaxWaiting = std::size_t{64} << 20U;
constexpr std::size_t kShort = 4096;

void signal(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
}

}  // namespace

StdioPipes::StdioPipes(int in, int out)
    : in_(in), out_(out), wake_(eventfd(0, EFD_CLOEXEC)), give_up_(eventfd(0, EFD_CLOEXEC)) {}

StdioPipes::~StdioPipes() {
  {
    const std::scoped_lock lock(mutex_);
    close();
  }
  if (writer_.joinable()) writer_.join();
  ::close(wake_);
  ::close(give_up_);
}

void StdioPipes::close() {
  closed_ = true;
  lines_.clear();
  bytes_ = 0;
  signal(give_up_);
  changed_.notify_all();
}

Result<StdioPipes::End> StdioPipes::read(const std::function<void(std::string)>& sink) {
  std::array<char, 65536> buffer;
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{in_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) {
      return std::unexpected(errors::internal(std::string("waiting for input: ") + std::strerror(errno)));
    }
    if (ready[1].revents != 0) return End::interrupted;
    if (ready[0].revents == 0) continue;
    const ssize_t count = ::read(in_, buffer.data(), buffer.size());
    if (count == 0) return End::of_input;
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return std::unexpected(errors::internal(std::string("reading input: ") + std::strerror(errno)));
    }
    sink(std::string(buffer.data(), static_cast<std::size_t>(count)));
  }
}

void StdioPipes::wait() {
  // poll reports an error of the output even if no events are requested.
  std::array<pollfd, 2> ready = {pollfd{wake_, POLLIN, 0}, pollfd{out_, 0, 0}};
  while (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
  }
}

bool StdioPipes::write(std::string line) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return true;
  const std::size_t room = line.size() <= kShort ? 2 * kMaxWaiting : kMaxWaiting;
  if (bytes_ > room) {
    dropped_.note(log::Level::warning, "does not read its output; a message was dropped");
    return false;
  }
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  if (!writer_.joinable()) writer_ = std::thread([this] { write_lines(); });
  changed_.notify_all();
  return true;
}

std::optional<std::size_t> StdioPipes::write_some(std::string_view bytes) const {
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{out_, POLLOUT, 0}, pollfd{give_up_, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return std::nullopt;
    if (ready[1].revents != 0) return std::nullopt;
    if (ready[0].revents == 0) continue;
    // Does not block, even if the descriptor does: a pipe that is ready has room for as much.
    const ssize_t count = ::write(out_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR && errno != EAGAIN) return std::nullopt;
  }
}

void StdioPipes::write_lines() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || !lines_.empty(); });
    if (closed_) return;
    const std::string line = std::move(lines_.front());
    lines_.pop_front();
    writing_ = true;
    for (std::string_view rest = line; !rest.empty();) {
      lock.unlock();
      const auto count = write_some(rest);
      lock.lock();
      if (!count) {
        writing_ = false;
        return close();
      }
      rest.remove_prefix(*count);
      ++written_;
    }
    writing_ = false;
    bytes_ -= line.size();
    changed_.notify_all();
  }
}

void StdioPipes::flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto is_done = [this] { return closed_ || (lines_.empty() && !writing_); };
  for (std::uint64_t seen = written_; !changed_.wait_for(lock, patience, is_done); seen = written_) {
    if (written_ == seen) return close();
  }
}

void StdioPipes::interrupt() { signal(wake_); }

}  // namespace proteus::server
