// Fuzzes the request reader with segments of any size and with pipelined requests. Each request must be read as if its
// bytes had arrived one by one, after the previous request was answered.
//
// The first bytes of the input determine the sizes of the segments. In the rest, a byte from 0x80 on stands for a run
// of one character, so that a short input fills buffers of kilobytes.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "net/http_server/request_reader.hpp"

namespace {

using namespace proteus;
using Step = net::RequestReader::Step;

constexpr std::size_t kCuts = 8;
constexpr std::size_t kMostBytes = 40'000;

net::HttpLimits limits() {
  net::HttpLimits limits;
  limits.head_bytes = 9000;
  limits.head_fields = 16;
  limits.body_bytes = 20'000;
  return limits;
}

std::string unpack(std::string_view packed) {
  std::string bytes;
  for (const char c : packed) {
    const auto number = static_cast<unsigned char>(c);
    if (number < 0x80) {
      bytes += c;
    } else {
      bytes.append((number - 0x7FU) * 37, 'y');
    }
    if (bytes.size() > kMostBytes) break;
  }
  return bytes;
}

// Returns what a handler can see of a request, except the body.
std::string seen(const net::RequestReader& reader) {
  const net::Request& request = reader.request();
  std::string all = std::string(request.method()) + ' ' + std::string(request.target()) + ' ' +
                    std::string(request.path()) + '?' + std::string(request.query());
  all += request.version() == net::HttpVersion::http_1_1 ? " 1.1" : " 1.0";
  for (const auto& [name, value] : request.fields())
    (((all += '\n') += name) += ": ") += value;
  return all;
}

std::string seen_whole(const net::RequestReader& reader) {
  const std::string_view body = reader.request().body();
  const volatile char padding = body.data()[body.size() + net::Request::kBodyPadding - 1];
  static_cast<void>(padding);
  return seen(reader) + (reader.keep_alive() ? "\nkept\n" : "\nclosed\n") + std::string(body);
}

// Returns everything that a reader yields for `bytes`. `next` returns the maximum size of the next segment. With
// `ahead`, segments are also fed while a request is ready.
template <class Next>
std::vector<std::string> read_all(std::string_view bytes, Next next, bool ahead) {
  static const net::HttpLimits kLimits = limits();
  net::RequestReader reader(kLimits);
  std::vector<std::string> all;
  std::string head;
  const auto feed = [&](std::span<char> space) {
    const std::size_t count = std::min({next(), space.size(), bytes.size()});
    std::memcpy(space.data(), bytes.data(), count);
    reader.commit(count);
    bytes.remove_prefix(count);
    return count;
  };
  while (true) {
    switch (reader.advance()) {
      case Step::need_bytes:
        if (bytes.empty()) return all;
        feed(reader.space());
        break;
      case Step::head: head = seen(reader); break;
      case Step::expects_continue: break;
      case Step::ready: {
        const std::string whole = seen_whole(reader);
        if (!head.empty()) fuzz::check(whole.starts_with(head), "the head is the same behind the body");
        head.clear();
        if (ahead && !bytes.empty()) {
          feed(reader.spare());
          fuzz::check(seen_whole(reader) == whole, "what is read ahead changes nothing");
        }
        all.push_back(whole);
        reader.finish();
        break;
      }
      case Step::refused: all.push_back("refused " + std::to_string(reader.refusal().status)); return all;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kCuts) return 0;
  const std::string_view cuts = fuzz::as_text(data, kCuts);
  const std::string bytes = unpack(fuzz::as_text(data + kCuts, size - kCuts));
  const auto one_by_one = read_all(bytes, [] { return std::size_t{1}; }, false);
  std::size_t turn = 0;
  const auto cut = [&] {
    const auto number = static_cast<unsigned char>(cuts[turn++ % kCuts]);
    return number < 0x80 ? std::size_t{number} + 1 : (std::size_t{number} - 0x7F) * 61;
  };
  fuzz::check(read_all(bytes, cut, true) == one_by_one, "segments change nothing");
  fuzz::check(read_all(bytes, [] { return kMostBytes * 2; }, true) == one_by_one, "nor does sending all at once");
  return 0;
}
