#include "server/stdio/stdio_pipes.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.hpp"

namespace proteus::server {
namespace {

// What may wait for a client that does not read.
constexpr std::size_t kMaxWaiting = std::size_t{64} << 20U;

}  // namespace

StdioPipes::StdioPipes(int in, int out) : in_(in), out_(out), wake_(eventfd(0, EFD_CLOEXEC)) {}

StdioPipes::~StdioPipes() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  if (writer_.joinable()) writer_.join();
  ::close(wake_);
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
  // An error of the output is reported without being asked for.
  std::array<pollfd, 2> ready = {pollfd{wake_, POLLIN, 0}, pollfd{out_, 0, 0}};
  while (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
  }
}

void StdioPipes::write(std::string line) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return;
  if (bytes_ + line.size() > kMaxWaiting) {
    dropped_.note(log::Level::warning, "does not read its output; a message was dropped");
    return;
  }
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  if (!writer_.joinable()) writer_ = std::thread([this] { write_lines(); });
  changed_.notify_all();
}

void StdioPipes::write_lines() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || !lines_.empty(); });
    if (lines_.empty()) return;
    const std::string line = std::move(lines_.front());
    lines_.pop_front();
    writing_ = true;
    lock.unlock();
    std::string_view rest = line;
    bool failed = false;
    while (!rest.empty() && !failed) {
      const ssize_t count = ::write(out_, rest.data(), rest.size());
      if (count >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(count));
      } else {
        failed = errno != EINTR && errno != EAGAIN;
      }
    }
    lock.lock();
    writing_ = false;
    bytes_ -= line.size();
    if (failed) {
      closed_ = true;
      lines_.clear();
      bytes_ = 0;
    }
    changed_.notify_all();
  }
}

void StdioPipes::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || (lines_.empty() && !writing_); });
}

void StdioPipes::interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

}  // namespace proteus::server
