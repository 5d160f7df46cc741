#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <proteus/error.hpp>

#include "base/memory/growing_text.hpp"

namespace proteus::net {

// One event of an event stream (WHATWG HTML, 9.2).
struct SseEvent {
  std::string_view type = "message";
  std::string_view data = {};  // the lines of all data fields, joined by LF
  // The last event id: that of this event, or of an earlier one if this event has none. Empty before the first id.
  std::string_view id = {};
  // A reconnection time that arrived with this event or since the previous one.
  std::optional<std::chrono::milliseconds> retry = {};
};

struct SseLimits {
  std::size_t line_bytes = std::size_t{16} << 20U;
  std::size_t event_bytes = std::size_t{16} << 20U;
  std::size_t id_bytes = std::size_t{1} << 10U;  // a longer id counts as an empty one, which nobody can resume from
};

// Reads an event stream from chunks of any size, exactly as the WHATWG standard says, except that it has limits and
// passes bytes on undecoded. An event that lies within one chunk is not copied. Not thread-safe.
//
//   reader.feed(chunk);
//   while (auto event = reader.next()) {  // no value: a limit was exceeded, and the reader is of no more use
//     if (!*event) break;                 // the chunk is used up
//     co_await pass_on(**event);
//   }
//
// At the end of the stream there is nothing to call: an unfinished event is dropped.
class SseReader {
 public:
  // `last_event_id` is that of the stream which this one continues.
  explicit SseReader(SseLimits limits = {}, std::string last_event_id = {})
      : limits_(limits), last_id_(std::move(last_event_id)) {}
  SseReader(const SseReader&) = delete;
  SseReader& operator=(const SseReader&) = delete;

  // `chunk` must stay valid until `next` reports that it is used up.
  void feed(std::string_view chunk);

  // Returns the next event of the chunk, or nothing if the chunk is used up. The views are valid until the next call of
  // `next` or `feed`.
  Result<std::optional<SseEvent>> next();

  // Returns an owner that keeps the data of the last event valid for longer than the reader. Returns null if the data
  // is short or still lies in the chunk.
  std::shared_ptr<const void> take_memory();

  // Feeds `chunk`, and calls `sink(const SseEvent&)` for each event that it completes.
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

  // Returns what a reconnecting client sends as Last-Event-ID. Events without data change it, too.
  const std::string& last_event_id() const { return last_id_; }
  // Returns how long to wait before reconnecting, if the stream said so; at most a day.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  // Takes an event that is one line of data and nothing else and lies within the chunk, as most events do. Returns
  // nothing if the next event is different.
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

  // The event being read. The views point into chunk_, partial_line_, or the members that keep them beyond a chunk's
  // end.
  GrowingText partial_line_;
  bool line_begun_ = false;    // partial_line_ holds the beginning of the next line
  std::size_t long_line_ = 0;  // bytes so far of a data line that is appended to kept_data_ as it arrives; 0: none
  std::string_view type_;
  std::string_view data_;
  std::string kept_type_;
  GrowingText kept_data_;
  bool has_data_ = false;
  bool delivered_ = false;  // the caller has the event; the next call drops it

  std::string new_id_;  // id of the event being read
  bool has_new_id_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
  std::optional<std::chrono::milliseconds> new_retry_;
};

// Returns the position of the first CR or LF at or after `from`, or npos.
std::size_t find_line_end(std::string_view text, std::size_t from = 0);

// Appends an event to `out`. Omits a type or id that contains CR, LF or NUL, because it cannot be expressed. Splits
// data at its line ends.
void write_sse_event(std::string& out, const SseEvent& event);

}  // namespace proteus::net
