#include "server/core/event_text.hpp"

#include <cstddef>
#include <utility>

#include "net/http/sse.hpp"

namespace proteus::server {

void join_lines(std::string& message) {
  // Messages rarely contain line ends.
  for (std::size_t at = 0; (at = net::find_line_end(message, at)) != std::string::npos; ++at)
    message[at] = ' ';
}

void append_sse_frame(std::string& frames, std::string message) {
  join_lines(message);
  if (frames.empty() && message.capacity() >= message.size() + kEventRoom) {
    frames = std::move(message.insert(0, kEventBefore));
    frames += kEventBehind;
    return;
  }
  // With room for the start of the next event.
  frames.reserve(frames.size() + 2 * kEventBefore.size() + message.size() + kEventBehind.size());
  frames.append(kEventBefore).append(message).append(kEventBehind);
}

std::string sse_frame(std::string message) {
  std::string frame;
  append_sse_frame(frame, std::move(message));
  return frame;
}

}  // namespace proteus::server
