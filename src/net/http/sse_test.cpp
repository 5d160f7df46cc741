#include "net/http/sse.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::net {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

struct Event {
  std::string type;
  std::string data;
  std::string id;
  std::optional<milliseconds> retry;
  friend bool operator==(const Event&, const Event&) = default;
};

void PrintTo(const Event& event, std::ostream* out) {
  *out << event.type << "|" << event.data << "|" << event.id << "|" << (event.retry ? event.retry->count() : -1);
}

Event message(std::string data, std::string id = "") { return {"message", std::move(data), std::move(id), {}}; }

std::vector<Event> read(SseReader& reader, std::string_view stream, std::size_t chunk_size = std::string::npos) {
  std::vector<Event> events;
  while (!stream.empty()) {
    // A separate copy, so that the address sanitizer finds views that outlive their chunk.
    const std::string chunk(stream.substr(0, chunk_size));
    stream.remove_prefix(chunk.size());
    const auto fed = reader.feed(chunk, [&](const SseEvent& event) {
      events.push_back({std::string(event.type), std::string(event.data), std::string(event.id), event.retry});
    });
    EXPECT_TRUE(fed) << fed.error().message();
  }
  return events;
}

std::vector<Event> read(std::string_view stream) {
  SseReader reader;
  return read(reader, stream);
}

TEST(SseReader, JoinsDataLinesAndNamesTheType) {
  EXPECT_THAT(read("event: update\ndata: one\ndata: two\n\n"), ElementsAre(Event{"update", "one\ntwo", "", {}}));
}

TEST(SseReader, TakesAnyLineEnd) {
  EXPECT_THAT(read("data: a\n\ndata: b\r\rdata: c\r\n\r\n"), ElementsAre(message("a"), message("b"), message("c")));
}

TEST(SseReader, TakesACarriageReturnAndALineFeedAsOneLineEnd) {
  EXPECT_THAT(read("event: a\r\ndata: 1\r\ndata: 2\r\n\r\n"), ElementsAre(Event{"a", "1\n2", "", {}}));
}

TEST(SseReader, DispatchesAtACarriageReturnWithoutWaitingForALineFeed) {
  SseReader reader;
  EXPECT_THAT(read(reader, "data: a\r\r"), ElementsAre(message("a")));
  EXPECT_THAT(read(reader, "\ndata: b\r\n\r\n"), ElementsAre(message("b")));
}

TEST(FindLineEnd, FindsTheFirstWhereverItIs) {
  for (const char end : {'\n', '\r'}) {
    for (std::size_t size = 1; size <= 200; ++size) {
      std::string text(size, 'x');
      for (std::size_t i = 0; i < size; i += 7)
        text[i] = "\t\v\f\b\x0e \xff"[i / 7 % 7];  // the codes next to line ends
      EXPECT_EQ(find_line_end(text), std::string::npos) << size;
      text.back() = end;
      for (std::size_t at = size; at-- > 0;) {
        text[at] = end;
        ASSERT_EQ(find_line_end(text), at) << size;
        ASSERT_EQ(find_line_end(text, at), at) << size;
      }
      EXPECT_EQ(find_line_end(text, size), std::string::npos) << size;
    }
  }
}

TEST(SseReader, RemovesOneSpaceOnly) {
  EXPECT_THAT(read("data:  a \n\ndata:b\n\ndata:\tc\n\n"), ElementsAre(message(" a "), message("b"), message("\tc")));
}

TEST(SseReader, TakesALineWithoutColonAsAFieldWithoutValue) {
  EXPECT_THAT(read("data\n\ndata\ndata\n\n"), ElementsAre(message(""), message("\n")));
}

TEST(SseReader, IgnoresCommentsAndUnknownFields) {
  EXPECT_THAT(read(": hello\ndatum: x\nDATA: y\n data: z\ndata: a\n:\n\n"), ElementsAre(message("a")));
}

TEST(SseReader, SkipsTheByteOrderMarkAtTheStartOnly) {
  SseReader reader;
  EXPECT_THAT(read(reader,
                   "\xEF\xBB\xBF"
                   "data: a\n\n"
                   "\xEF\xBB\xBF"
                   "data: b\n\ndata: c\n\n",
                   1),
              ElementsAre(message("a"), message("c")));
}

TEST(SseReader, KeepsHalfAByteOrderMarkAsText) {
  EXPECT_THAT(read("\xEF\xBB"
                   "data: a\n\ndata: b\n\n"),
              ElementsAre(message("b")));
}

TEST(SseReader, RemembersTheLastEventId) {
  EXPECT_THAT(read("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"),
              ElementsAre(message("a", "1"), message("b", "1"), message("c", "")));
}

TEST(SseReader, GoesOnFromTheIdOfAnEarlierStream) {
  SseReader reader({}, "7");
  EXPECT_THAT(read(reader, ": nothing yet\n\n"), ElementsAre());
  EXPECT_EQ(reader.last_event_id(), "7");
  EXPECT_THAT(read(reader, "data: a\n\nid\ndata: b\n\n"), ElementsAre(message("a", "7"), message("b")));
}

TEST(SseReader, IgnoresAnIdWithNul) {
  using namespace std::string_view_literals;
  EXPECT_THAT(read("id: 1\nid: 2\0\ndata: a\n\n"sv), ElementsAre(message("a", "1")));
}

TEST(SseReader, TakesAnIdOverTheLimitForAnEmptyOne) {
  SseReader reader({.id_bytes = 4});
  EXPECT_THAT(read(reader, "id: 1234\ndata: a\n\nid: 12345\ndata: b\n\ndata: c\n\nid: 6\ndata: d\n\n"),
              ElementsAre(message("a", "1234"), message("b"), message("c"), message("d", "6")));
}

TEST(SseReader, KeepsALongIdFromBeingLookedAtWithEveryLine) {
  SseReader reader;
  read(reader, "id: " + std::string(std::size_t{8} << 20U, 'x') + "\n\n");
  EXPECT_EQ(reader.last_event_id(), "")
      << "where it is kept, each of the empty lines to come costs as much as it is long";
  EXPECT_THAT(read(reader, std::string(std::size_t{1} << 20U, '\n')), ElementsAre());
}

TEST(SseReader, DispatchesNothingWithoutDataButKeepsItsIdAndRetry) {
  SseReader reader;
  EXPECT_THAT(read(reader, "event: odd\nid: 7\nretry: 250\n\n"), ElementsAre());
  EXPECT_EQ(reader.last_event_id(), "7");
  EXPECT_EQ(reader.retry(), milliseconds(250));
  EXPECT_THAT(read(reader, "data: a\n\ndata: b\n\n"),
              ElementsAre(Event{"message", "a", "7", milliseconds(250)}, message("b", "7")));
}

TEST(SseReader, DispatchesAnEventWhoseDataIsEmpty) {
  EXPECT_THAT(read("id: 7\ndata:\n\n"), ElementsAre(message("", "7")));
}

TEST(SseReader, DropsWhatTheEndCutsOff) {
  SseReader reader;
  EXPECT_THAT(read(reader, "id: 1\ndata: a\n\nid: 2\ndata: b\n"), ElementsAre(message("a", "1")));
  EXPECT_EQ(reader.last_event_id(), "1");
}

TEST(SseReader, TakesRetryOnlyFromDigitsThatFit) {
  SseReader reader;
  read(reader, "retry: 100\nretry: -1\nretry: +1\nretry: 1x\nretry: 1 \nretry:\nretry: 99999999999999999999\n");
  EXPECT_EQ(reader.retry(), milliseconds(100));
  read(reader, "retry: 9223372036854775807\n");
  EXPECT_EQ(reader.retry(), std::chrono::hours(24));
}

TEST(SseReader, ReadsTheSameEventsHoweverTheyAreCut) {
  const std::string stream =
      "\xEF\xBB\xBF: hi\r\nevent: first\r\ndata: {\"a\":1}\r\n\r\nid: 12345678901234567890\rdata: x\rdata: "
      "y\r\r"
      "retry: 5\n\ndata\n\nevent: longer than any small string\ndata: and data that is longer, "
      "too\nid\n\ndata: cut";
  const std::vector<Event> whole = read(stream);
  ASSERT_THAT(whole, ElementsAre(Event{"first", "{\"a\":1}", "", {}}, message("x\ny", "12345678901234567890"),
                                 Event{"message", "", "12345678901234567890", milliseconds(5)},
                                 Event{"longer than any small string", "and data that is longer, too", "", {}}));
  for (std::size_t size = 1; size < stream.size(); ++size) {
    SseReader reader;
    EXPECT_EQ(read(reader, stream, size), whole) << "in chunks of " << size;
  }
}

TEST(SseReader, DoesNotCopyAnEventThatLiesInOneChunk) {
  const std::string chunk = "event: update\ndata: {\"a\":1}\n\n";
  SseReader reader;
  reader.feed(chunk);
  const auto event = reader.next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->data.data(), chunk.data() + chunk.find('{'));
}

TEST(SseReader, ReadsALineThatComesInTwoChunks) {
  SseReader reader;
  ASSERT_TRUE(reader.feed("data: " + std::string(100, 'x'), [](const SseEvent&) { FAIL(); }));
  std::string data;
  ASSERT_TRUE(reader.feed("yz\n\ndata: next\n", [&](const SseEvent& event) { data = event.data; }));
  EXPECT_EQ(data, std::string(100, 'x') + "yz");
}

TEST(SseReader, ReadsLongLinesOfDataHoweverTheyAreCut) {
  const std::string text = std::string(300'000, 'x') + "end";
  const std::string stream = "data: first\ndata:" + text + "\r\ndata: " + text + "\nid: 7\n\n:" + text +
                             "\nevent: " + text + "\ndata: short\n\n\xEF\xBB\xBF" + "data: " + text +
                             "\n\ndata: last\n\n";
  const std::vector<Event> whole = read(stream);
  ASSERT_EQ(whole.size(), 3U) << "a mark within the stream is part of a name";
  EXPECT_EQ(whole[0].data, "first\n" + text + "\n" + text);
  EXPECT_EQ(whole[1].data, "short");
  EXPECT_EQ(whole[2].data, "last");
  for (const std::size_t size : {1'000U, 16'384U, 70'001U}) {
    SseReader reader;
    EXPECT_EQ(read(reader, stream, size), whole) << "in chunks of " << size;
  }
}

TEST(SseReader, SkipsTheByteOrderMarkBeforeALongLine) {
  const std::string text(200'000, 'x');
  SseReader reader;
  EXPECT_THAT(read(reader, "\xEF\xBB\xBF" + ("data: " + text) + "\n\n", 16'384), ElementsAre(message(text)));
}

TEST(SseReader, GivesLongDataAwayWithItsMemory) {
  const std::string text(500'000, 'x');
  const std::string stream = "data: " + text + "\n\ndata: next\n\n";
  SseReader reader;
  std::string_view data;
  std::shared_ptr<const void> kept;
  std::string next;
  for (std::size_t at = 0; at < stream.size(); at += 10'000) {
    ASSERT_TRUE(reader.feed(std::string_view(stream).substr(at, 10'000), [&](const SseEvent& event) {
      if (event.data.size() < text.size()) {
        EXPECT_EQ(reader.take_memory(), nullptr);
        next = event.data;
        return;
      }
      data = event.data;
      kept = reader.take_memory();
    }));
  }
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(data, text);
  EXPECT_EQ(next, "next");
}

TEST(SseReader, RefusesLongDataOverTheLimitBeforeItEnds) {
  SseReader reader({.line_bytes = 400'000, .event_bytes = 300'000});
  const std::string piece(100'000, 'x');
  const auto none = [](const SseEvent&) { FAIL(); };
  EXPECT_TRUE(reader.feed("data: " + piece, none));
  EXPECT_TRUE(reader.feed(piece, none));
  EXPECT_TRUE(reader.feed(piece, none));
  EXPECT_FALSE(reader.feed("x", none));
}

TEST(SseReader, RefusesALineOverTheLimitWithoutReadingItsEnd) {
  SseReader reader({.line_bytes = 10, .event_bytes = 100});
  int events = 0;
  const auto count = [&](const SseEvent&) { ++events; };
  EXPECT_TRUE(reader.feed("data: 1234\n\n:23456789", count));
  EXPECT_EQ(events, 1);
  EXPECT_TRUE(reader.feed("0", count));
  const auto fed = reader.feed("1", count);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().kind(), ErrorKind::too_large);
  EXPECT_FALSE(reader.feed("\ndata: a\n\n", count)) << "a broken reader stays broken";
  EXPECT_EQ(events, 1);
}

TEST(SseReader, RefusesAnEventOverTheLimit) {
  SseReader reader({.line_bytes = 100, .event_bytes = 5});
  EXPECT_TRUE(reader.feed("data: ab\ndata: cd\n\ndata: ab\ndata: c\n", [](const SseEvent&) {}));
  const auto fed = reader.feed("data: d\n", [](const SseEvent&) {});
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().message(), "an event of an event stream is over the limit of 5");
}

std::string written(const SseEvent& event) {
  std::string out;
  write_sse_event(out, event);
  return out;
}

TEST(WriteSseEvent, WritesWhatAReaderReads) {
  const std::string text =
      written({.type = "update", .data = "one\ntwo\r\nthree\rfour\n", .id = "5", .retry = milliseconds(9)});
  EXPECT_EQ(text, "event: update\nid: 5\nretry: 9\ndata: one\ndata: two\ndata: three\ndata: four\ndata: \n\n");
  EXPECT_THAT(read(text), ElementsAre(Event{"update", "one\ntwo\nthree\nfour\n", "5", milliseconds(9)}));
}

TEST(WriteSseEvent, LeavesOutATypeOrIdThatWouldBreakTheStream) {
  EXPECT_EQ(written({.type = "a\ndata: b", .data = "x", .id = "1\r"}), "data: x\n\n");
}

TEST(WriteSseEvent, AppendsToAString) {
  std::string out = "data: a\n\n";
  write_sse_event(out, {.data = "b"});
  EXPECT_THAT(read(out), ElementsAre(message("a"), message("b")));
}

}  // namespace
}  // namespace proteus::net
