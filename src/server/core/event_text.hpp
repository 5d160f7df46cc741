#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The text of server-sent events.
namespace proteus::server {

// A comment, which clients skip.
inline constexpr std::string_view kComment = ":\n\n";
// Text before and after the data of an event.
inline constexpr std::string_view kEventBefore = "data: ";
inline constexpr std::string_view kEventBehind = "\n\n";
// Spare capacity that a message needs to become an event in place, followed by the start of the next event.
inline constexpr std::size_t kEventRoom = 2 * kEventBefore.size() + kEventBehind.size();
// Returns an event with a single data line, whatever white space the message contains.
std::string sse_frame(std::string message);
void append_sse_frame(std::string& frames, std::string message);
// Replaces line ends by spaces. In JSON text, line ends occur only between tokens.
void join_lines(std::string& message);

}  // namespace proteus::server
