#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/growing_text.hpp"

namespace proteus::net {

// One event of an event stream (WHATWG HTML, 9.2).
struct SseEvent {
  std::string_view type = "message";
  std::string_view data = {};  // the lines of all data fields, joined by LF
  // The last event id: of this event, or of an earlier one if this one carried none. Empty before the first.
  std::string_view id = {};
  // A reconnection time that arrived with this event or since the one before.
  std::optional<std::chrono::milliseconds> retry = {};
};

struct SseLimits {
  std::size_t line_bytes = std::size_t{16} << 20U;
  std::size_t event_bytes = std::size_t{16} << 20U;
  std::size_t id_bytes = std::size_t{1} << 10U;  // a longer id counts as an empty one, which nobody can resume from
};

// Reads an event stream from chunks of any size, exactly as the WHATWG text says, except that it has limits and that
// bytes are passed on undecoded. An event that lies within one chunk is not copied. Not thread-safe.
//
//   reader.feed(chunk);
//   while (auto event = reader.next()) {          // no value: a limit was broken, and the reader is of no
//   more use
//     if (!*event) break;                         // the chunk is used up
//     co_await pass_on(**event);
//   }
//
// At the end of the stream there is nothing to call: an unfinished event is no event.
class SseReader {
 public:
  // `last_event_id` is that of the stream which this one goes on from.
  explicit SseReader(SseLimits limits = {}, std::string last_event_id = {})
      : limits_(limits), last_id_(std::move(last_event_id)) {}
  SseReader(const SseReader&) = delete;
  SseReader& operator=(const SseReader&) = delete;

  // `chunk` must stay where it is until `next` has said that it is used up.
  void feed(std::string_view chunk);

  // The next event of the chunk; its views hold until the next call of `next` or `feed`.
  Result<std::optional<SseEvent>> next();

  // Keeps the data of the event that `next` gave where it is, for longer than the reader. Nothing where it is short.
  std::shared_ptr<const void> take_memory();

  // Both at once: calls `sink(const SseEvent&)` for each event that `chunk` completes.
  template <class Sink>
  Result<> feed(std::string_view chunk, Sink&& sink) {
    feed(chunk);
    for (;;) {
      auto event = next();
      if (!event) return std::unexpected(std::move(event).error());
      if (!*event) return {};
      sink(std::as_const(**event));
    }
  }

  // What a reconnecting client sends as Last-Event-ID. Also events without data move it.
  const std::string& last_event_id() const { return last_id_; }
  // How long to wait before reconnecting, if the stream said so; at most a day.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  // One line of data and nothing else, all of it here, as most events are. Nothing where the next one is not like that.
  std::optional<SseEvent> take_whole_event();
  std::optional<std::string_view> take_line();
  void take_field(std::string_view line);
  void take_id(std::string_view value);
  void take_data(std::string_view value);
  std::optional<SseEvent> dispatch();
  void keep_unfinished();
  void begin_long_data();
  void break_limit(std::string_view what, std::size_t limit);

  SseLimits limits_;
  std::optional<Error> broken_;

  std::string_view chunk_;
  std::size_t position_ = 0;
  bool skip_lf_ = false;  // the last line ended in CR; an LF that follows belongs to it
  bool first_line_ = true;

  // The event being read. The views point into chunk_, partial_line_, or the strings that keep them over a
  // chunk's end.
  GrowingText partial_line_;
  bool line_begun_ = false;    // partial_line_ holds the beginning of the line to come
  std::size_t long_line_ = 0;  // bytes so far of a line of data that goes into kept_data_ as it comes; 0: none does
  std::string_view type_;
  std::string_view data_;
  std::string kept_type_;
  GrowingText kept_data_;
  bool has_data_ = false;
  bool delivered_ = false;  // the event lies with the caller, and is forgotten at the next call

  std::string new_id_;  // of the event being read
  bool has_new_id_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
  std::optional<std::chrono::milliseconds> new_retry_;
};

// The first CR or LF at or after `from`, or npos.
std::size_t find_line_end(std::string_view text, std::size_t from = 0);

// Writes events as pieces for a gathered write, without copying data. The pieces hold until the next call,
// and as long as what they were made from. One encoder per stream, to reuse its memory.
class SseEncoder {
 public:
  // A type or id that holds CR, LF or NUL cannot be expressed and is left out; data is split at its line
  // ends.
  std::span<const std::string_view> event(const SseEvent& event);

  // A comment, which readers ignore; an empty one is a keep-alive.
  std::span<const std::string_view> comment(std::string_view text = {});

 private:
  void lines(std::string_view name, std::string_view text);

  std::vector<std::string_view> pieces_;
  std::array<char, 24> retry_text_{};
};

// The same into one string.
void write_sse_event(std::string& out, const SseEvent& event);

}  // namespace proteus::net
