#include "net/io/multiplexer.hpp"

#include <array>
#include <new>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "net/io/memory_stream.hpp"
#include "net/testing/allocated_bytes.hpp"
#include "net/testing/loopback_streams.hpp"

// stream_test.cpp tests what a multiplexed stream does, as for every other stream.
namespace proteus::net {
namespace {

namespace asio = boost::asio;
using Kind = Multiplexer::Kind;

std::string frame(std::uint32_t number, Kind kind, std::size_t length, std::string_view payload = {}) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    bytes += static_cast<char>(number >> shift);
  bytes += static_cast<char>(kind);
  for (const unsigned shift : {16U, 8U, 0U})
    bytes += static_cast<char>(length >> shift);
  return bytes.append(payload);
}
std::string data(std::uint32_t number, std::string_view payload) {
  return frame(number, Kind::data, payload.size(), payload);
}

IoResult write(Stream& stream, std::string_view text) { return stream.try_write({&text, 1}); }

std::string read(Stream& stream) {
  std::string text(std::size_t{1} << 20U, '\0');
  text.resize(stream.try_read(text).size);
  return text;
}

ErrorCode error_of_read(Stream& stream) {
  std::array<char, 1> byte;
  return stream.try_read(byte).error;
}

class MultiplexerTest : public testing::Test {
 protected:
  MultiplexerTest() { std::tie(near_, far_) = memory_streams(io_.get_executor(), std::size_t{8} << 20U); }
  ~MultiplexerTest() override {
    opened_.clear();
    for (const auto& link : {opens_, accepts_}) {
      if (link) link->close();
    }
    settle();
  }

  // Makes the side that opens streams. What it sends can be read from `far_`.
  Multiplexer& opens() {
    opens_ = std::make_shared<Multiplexer>(std::move(near_));
    opens_->start();
    return *opens_;
  }
  // Makes the side that accepts streams, into `opened_`.
  Multiplexer& accepts() {
    accepts_ =
        std::make_shared<Multiplexer>(std::move(far_), [this](Stream one) { opened_.push_back(std::move(one)); });
    accepts_->start();
    return *accepts_;
  }
  void settle() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }

  asio::io_context io_{1};
  Stream near_;
  Stream far_;
  std::shared_ptr<Multiplexer> opens_;
  std::shared_ptr<Multiplexer> accepts_;
  std::vector<Stream> opened_;
};

TEST_F(MultiplexerTest, SendsWhatIsWrittenInOneTurnInOnePiece) {
  Stream one = opens().open();
  Stream two = opens_->open();
  EXPECT_EQ(write(one, "hello").size, 5U);
  EXPECT_EQ(write(two, "there").size, 5U);
  EXPECT_EQ(read(far_), "") << "its turn is not over";
  settle();
  EXPECT_EQ(read(far_), data(1, "") + data(2, "") + data(1, "hello") + data(2, "there"));
}

TEST_F(MultiplexerTest, KeepsStreamsApart) {
  Stream one = opens().open();
  Stream two = opens_->open();
  accepts();
  write(two, "second");
  write(one, "first");
  settle();
  ASSERT_EQ(opened_.size(), 2U);
  EXPECT_EQ(read(opened_[0]), "first");
  EXPECT_EQ(read(opened_[1]), "second");
  EXPECT_EQ(write(opened_[1], "answer").size, 6U);
  settle();
  EXPECT_EQ(read(two), "answer");
  EXPECT_EQ(error_of_read(one), asio::error::would_block);
}

TEST_F(MultiplexerTest, AStreamThatNobodyReadsHoldsUpNoOther) {
  Stream full = opens().open();
  Stream other = opens_->open();
  accepts();
  const std::string long_text(2 * Multiplexer::kWindow, 'x');
  std::size_t taken = 0;
  for (int i = 0; i < 3; ++i) {
    const IoResult some = write(full, long_text);
    EXPECT_EQ(some.error, asio::error::would_block);
    taken += some.size;
    settle();
  }
  EXPECT_EQ(taken, Multiplexer::kWindow);
  EXPECT_EQ(write(full, "more").error, asio::error::would_block);
  EXPECT_EQ(write(other, "small").size, 5U);
  settle();
  ASSERT_EQ(opened_.size(), 2U);
  EXPECT_EQ(read(opened_[1]), "small");

  bool is_writable = false;
  full.on_writable([&](ErrorCode error) { is_writable = !error; });
  settle();
  EXPECT_FALSE(is_writable);
  EXPECT_EQ(read(opened_[0]).size(), Multiplexer::kWindow);
  settle();
  EXPECT_TRUE(is_writable);
  EXPECT_EQ(write(full, "more").size, 4U);
}

Task<> write_all(Stream& stream, std::string text, bool& is_done) {
  const std::string_view part = text;
  co_await stream.write({&part, 1});
  is_done = true;
}

TEST_F(MultiplexerTest, ALongTextLetsShortOnesPass) {
  std::tie(near_, far_) = memory_streams(io_.get_executor(), 10'000);
  constexpr std::size_t kStreams = 12;
  std::vector<Stream> streams;
  opens();
  accepts();
  for (std::size_t i = 0; i < kStreams; ++i)
    streams.push_back(opens_->open());
  std::array<bool, kStreams> is_done{};
  for (std::size_t i = 0; i < kStreams; ++i)
    asio::co_spawn(io_, write_all(streams[i], std::string(i % 2 == 0 ? 2'000'000 : 1000, 'x'), is_done[i]),
                   asio::detached);
  const auto is_short_done = [&] {
    return is_done[1] && is_done[3] && is_done[5] && is_done[7] && is_done[9] && is_done[11];
  };
  std::vector<char> some(Multiplexer::kMostInFrame);  // once for all: sanitizers make allocations dear
  while (!is_short_done()) {
    ASSERT_GT(io_.poll_one(), 0U);
    for (Stream& stream : opened_)
      stream.try_read(some);
    for (std::size_t i = 0; i < kStreams; i += 2)
      ASSERT_FALSE(is_done[i]) << "a short text waits for a long one";
  }
  for (Stream& stream : streams)
    stream.close();
  settle();
}

// REP-15
TEST_F(MultiplexerTest, AReaderThatNeverCatchesUpKeepsNoMoreThanTheWindow) {
  Stream one = opens().open();
  accepts();
  settle();
  ASSERT_EQ(opened_.size(), 1U);
  std::size_t read = 0;
  const std::size_t before = test::allocated_bytes();
  std::size_t most = 0;
  for (std::size_t sent = 0; sent < 16 * Multiplexer::kWindow;) {
    sent += write(one, std::string(Multiplexer::kMostInFrame, 'x')).size;
    settle();
    std::array<char, 8'000> some;
    read += opened_[0].try_read(some).size;
    most = std::max(most, test::allocated_bytes());
    ASSERT_GE(sent, read);
  }
  EXPECT_LE(most, before + 6 * Multiplexer::kWindow);
}

// REP-14: a draining process checks whether a stream that was just opened has a request.
TEST_F(MultiplexerTest, AStreamIsOpenedWithAllThatHasCome) {
  std::string seen;
  accepts_ = std::make_shared<Multiplexer>(std::move(far_), [&](Stream opened) {
    EXPECT_TRUE(opened.has_unread());
    seen = read(opened);
  });
  accepts_->start();
  write(near_, data(1, "") + data(1, "GET ") + data(1, "/"));
  settle();
  EXPECT_EQ(seen, "GET /");
}

// REP-15
TEST_F(MultiplexerTest, WhoStandsInLineToWriteIsNotCalledByWhatTheOtherSideSays) {
  std::tie(near_, far_) = memory_streams(io_.get_executor(), 10'000);
  Stream one = opens().open();
  std::array<Stream, 2> others{opens_->open(), opens_->open()};
  for (Stream& other : others) {
    write(other, std::string(Multiplexer::kWindow, 'x'));
    settle();  // part of it is sent
  }
  int called = 0;
  one.on_writable([&](ErrorCode) { ++called; });
  for (int i = 0; i < 10; ++i) {
    write(far_, frame(1, Kind::room, 0));
    settle();
  }
  EXPECT_EQ(called, 0) << "nothing more can wait to be sent";
  while (!read(far_).empty())
    settle();
  EXPECT_EQ(called, 1);
}

TEST_F(MultiplexerTest, ClosingAStreamResetsItAndNoOther) {
  Stream one = opens().open();
  Stream two = opens_->open();
  accepts();
  write(one, "a");
  write(two, "b");
  settle();
  ASSERT_EQ(opened_.size(), 2U);
  one.close();
  settle();
  EXPECT_EQ(read(opened_[0]), "a") << "what came before can be read";
  EXPECT_EQ(error_of_read(opened_[0]), asio::error::connection_reset);
  EXPECT_EQ(write(opened_[0], "x").error, asio::error::connection_reset);
  EXPECT_EQ(error_of_read(opened_[1]), ErrorCode());
  EXPECT_EQ(opens_->streams(), 1U);
  EXPECT_EQ(accepts_->streams(), 1U);
}

TEST_F(MultiplexerTest, IgnoresWhatIsOnItsWayToAStreamThatWasClosedHere) {
  Stream one = opens().open();
  accepts();
  write(one, "a");
  settle();
  one.close();
  write(opened_[0], "late");
  opened_[0].shutdown();
  settle();
  EXPECT_TRUE(opens_->is_open());
}

TEST_F(MultiplexerTest, AllStreamsFailWhenWhatIsBelowEnds) {
  Stream one = opens().open();
  Stream two = opens_->open();
  std::optional<ErrorCode> heard;
  one.on_readable([&](ErrorCode error) { heard = error; });
  settle();
  far_.close();
  settle();
  EXPECT_FALSE(opens_->is_open());
  EXPECT_FALSE(opens_->can_open());
  EXPECT_EQ(heard, ErrorCode());
  EXPECT_EQ(error_of_read(one), asio::error::connection_reset);
  EXPECT_EQ(write(two, "x").error, asio::error::connection_reset);
}

TEST_F(MultiplexerTest, AllStreamsFailWhenTheCallbackOfOneThrows) {
  Stream one = opens().open();
  Stream two = opens_->open();
  bool is_told = false;
  one.on_readable([](ErrorCode) { throw std::bad_alloc(); });
  two.on_readable([&](ErrorCode) { is_told = true; });
  settle();
  write(far_, data(1, "a") + data(2, "b"));
  settle();
  EXPECT_TRUE(is_told);
  EXPECT_EQ(read(two), "b") << "it has arrived";
  EXPECT_TRUE(error_of_read(two));
  EXPECT_FALSE(opens_->is_open());
}

TEST_F(MultiplexerTest, EndsWithNoStreamLeftBehind) {
  opens();
  bool has_ended = false;
  asio::co_spawn(io_, opens_->wait_for_end(), [&](const std::exception_ptr&) { has_ended = true; });
  {
    Stream one = opens_->open();
    write(one, "a");
  }
  settle();
  EXPECT_EQ(opens_->streams(), 0U);
  EXPECT_EQ(read(far_), data(1, "") + data(1, "a") + frame(1, Kind::reset, 0));
  EXPECT_FALSE(has_ended);
  opens_->close();
  settle();
  EXPECT_TRUE(has_ended);
}

TEST_F(MultiplexerTest, WaitsForNothingOnceItIsClosedWhileItCouldNotSend) {
  std::tie(near_, far_) = test::loopback_streams(io_);
  opens();
  std::vector<Stream> streams;
  do {
    streams.push_back(opens_->open());
    settle();
  } while (write(streams.back(), std::string(100'000, 'x')).size > 0);
  EXPECT_FALSE(io_.stopped());
  opens_->close();
  settle();
  EXPECT_TRUE(io_.stopped()) << "something is still waited for";
}

TEST_F(MultiplexerTest, OpensNoNumberTwice) {
  accepts();
  write(near_, data(2, "a") + frame(2, Kind::reset, 0) + data(2, "b") + data(1, "c"));
  settle();
  EXPECT_EQ(opened_.size(), 1U);
  EXPECT_TRUE(accepts_->is_open());
  EXPECT_EQ(accepts_->streams(), 0U);
}

TEST_F(MultiplexerTest, OpensNothingThatTheOtherSideWants) {
  opens();
  write(far_, data(9, "a"));
  settle();
  EXPECT_TRUE(opens_->is_open());
  EXPECT_EQ(opens_->streams(), 0U);
}

struct Broken {
  const char* rule;
  std::string bytes;
};

class BrokenRules : public MultiplexerTest, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenRules, CutTheOtherSideOff) {
  accepts();
  write(near_, data(1, "fine"));
  settle();
  ASSERT_EQ(opened_.size(), 1U);
  write(near_, GetParam().bytes);
  settle();
  EXPECT_FALSE(accepts_->is_open());
  EXPECT_EQ(read(opened_[0]).substr(0, 4), "fine");
}

std::string too_much() {
  std::string bytes;
  for (std::size_t sent = 0; sent <= Multiplexer::kWindow; sent += 10'000)
    bytes += data(1, std::string(10'000, 'x'));
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(By, BrokenRules,
                         testing::Values(Broken{"KindZero", frame(1, Kind{0}, 0)},
                                         Broken{"AnotherKind", frame(1, Kind{9}, 0)},
                                         Broken{"ALongFrame", frame(1, Kind::data, Multiplexer::kMostInFrame + 1)},
                                         Broken{"MoreThanThereIsRoomFor", too_much()},
                                         Broken{"MoreRoomThanWasUsed", frame(1, Kind::room, 1)},
                                         Broken{"AnEndWithALength", frame(1, Kind::end, 1)},
                                         Broken{"DataAfterTheEnd", frame(1, Kind::end, 0) + data(1, "x")}),
                         [](const auto& param) { return std::string(param.param.rule); });

}  // namespace
}  // namespace proteus::net
