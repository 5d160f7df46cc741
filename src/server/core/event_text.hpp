#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The text of server-sent events.
namespace proteus::server {

// What clients skip.
inline constexpr std::string_view kComment = ":\n\n";
// Around the data of an event.
inline constexpr std::string_view kEventBefore = "data: ";
inline constexpr std::string_view kEventBehind = "\n\n";
// What a message needs beyond its size to become an event where it is, with the beginning of the next one behind it.
inline constexpr std::size_t kEventRoom = 2 * kEventBefore.size() + kEventBehind.size();
// One event on one line, whatever white space the message was written with.
std::string sse_frame(std::string message);
void append_sse_frame(std::string& frames, std::string message);
// Line ends in JSON stand between tokens only, where a space does as well.
void join_lines(std::string& message);

}  // namespace proteus::server
