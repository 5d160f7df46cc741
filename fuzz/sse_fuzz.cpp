// Fuzzes the reader of event streams: however a stream is split, it yields the same events and ends in the same state.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/sse.hpp"

namespace {

using proteus::net::SseEvent;
using proteus::net::SseReader;

struct Outcome {
  std::vector<std::string> events;
  std::string last_id;
  std::int64_t retry = -1;
  bool broken = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

constexpr proteus::net::SseLimits kLimits{.line_bytes = 64, .event_bytes = 96};

template <class NextSize>
Outcome read(std::string_view stream, NextSize next_size) {
  SseReader reader(kLimits);
  Outcome outcome;
  while (!stream.empty() && !outcome.broken) {
    // A copy, so that the sanitizer detects a view that outlives its chunk.
    const std::string chunk(stream.substr(0, next_size()));
    stream.remove_prefix(chunk.size());
    outcome.broken = !reader.feed(chunk, [&](const SseEvent& event) {
      std::string text = std::string(event.type) + '\1' + std::string(event.data) + '\1' + std::string(event.id);
      text += event.retry ? std::to_string(event.retry->count()) : "-";
      outcome.events.push_back(std::move(text));
    });
  }
  outcome.last_id = reader.last_event_id();
  if (reader.retry()) outcome.retry = reader.retry()->count();
  return outcome;
}

// Checks that the reader returns what the encoder wrote.
void check_round_trip(std::string_view data) {
  std::string stream;
  proteus::net::write_sse_event(stream, {.data = data});
  std::size_t events = 0;
  SseReader reader;
  const bool fed = reader
                       .feed(stream,
                             [&](const SseEvent& event) {
                               ++events;
                               if (data.find('\r') == std::string_view::npos && event.data != data) std::abort();
                             })
                       .has_value();
  if (!fed || events != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  std::uint32_t state = bytes[0] * 256U + bytes[1];
  const Outcome one_by_one = read(stream, [] { return std::size_t{1}; });
  const Outcome whole = read(stream, [] { return std::string_view::npos; });
  const Outcome mixed = read(stream, [&] {
    state = state * 1664525U + 1013904223U;
    return std::size_t{1} + (state >> 16U) % 23U;
  });
  if (one_by_one != whole || one_by_one != mixed) std::abort();
  check_round_trip(stream);
  return 0;
}
