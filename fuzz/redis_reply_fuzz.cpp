// Fuzzes the reader of Redis replies: replies are the same however they are split, and their size is bounded.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "redis/redis_url.hpp"
#include "redis/reply.hpp"

namespace {

using proteus::fuzz::check;
using proteus::redis::Reply;
using proteus::redis::ReplyReader;

constexpr proteus::redis::ReplyLimits kLimits{.bytes = 8192};

std::string shown(const Reply& reply) {
  std::string text =
      std::to_string(static_cast<int>(reply.kind)) + ' ' + std::to_string(reply.number) + ' ' + reply.text;
  for (const Reply& element : reply.elements)
    text += '(' + shown(element) + ')';
  return text;
}

std::size_t cost(const Reply& reply) {
  std::size_t bytes = sizeof(Reply) + reply.text.size();
  for (const Reply& element : reply.elements)
    bytes += cost(element);
  return bytes;
}

std::vector<std::string> read(std::string_view bytes, std::size_t piece) {
  ReplyReader reader(kLimits);
  std::vector<std::string> replies;
  while (!bytes.empty()) {
    // A copy, so that the sanitizer detects a view that outlives its piece.
    const std::string part(bytes.substr(0, piece));
    bytes.remove_prefix(part.size());
    reader.feed(part);
    for (;;) {
      const auto reply = reader.next();
      if (!reply) {
        check(!reader.next(), "a reader that has failed stays so");
        return replies;
      }
      if (!*reply) break;
      check(cost(**reply) <= kLimits.bytes + sizeof(Reply), "a reply is within its limit");
      replies.push_back(shown(**reply));
    }
  }
  return replies;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = proteus::fuzz::as_text(data, size);
  const auto by_byte = read(bytes, 1);
  // A line that is too long is noticed only when the next piece arrives, so a single piece may differ.
  if (size < kLimits.bytes) {
    check(read(bytes, 7) == by_byte, "pieces make no difference");
    check(read(bytes, size + 1) == by_byte, "one piece makes no difference");
  }
  if (const auto url = proteus::redis::RedisUrl::parse(bytes)) check(url->server.port() > 0, "a URL has a port");
  return 0;
}
