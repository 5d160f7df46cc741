#include "net/io/readiness.hpp"

#include <functional>
#include <new>
#include <string>
#include <vector>

#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace proteus::net {
namespace {

std::array<UniqueFd, 2> make_pair() {
  std::array<int, 2> pair{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
  return {UniqueFd(pair[0]), UniqueFd(pair[1])};
}

// A pair of sockets. One end becomes readable again after each read.
class Busy {
 public:
  explicit Busy(boost::asio::io_context& io) : ends_(make_pair()) {
    watch_.emplace(boost::asio::use_service<Readiness>(io), ends_[0].get());
    send();
    wait();
  }

  std::size_t answered = 0;

 private:
  void send() { EXPECT_EQ(::send(ends_[1].get(), "x", 1, 0), 1); }
  void wait() {
    watch_->wait(Readiness::Side::read, [this](Readiness::ErrorCode error) {
      if (error || ++answered == kMost) return;
      char byte = 0;
      EXPECT_EQ(::recv(ends_[0].get(), &byte, 1, 0), 1);
      watch_->exhausted(Readiness::Side::read);
      send();
      wait();
    });
  }

  static constexpr std::size_t kMost = 10'000;
  std::array<UniqueFd, 2> ends_;
  std::optional<Readiness::Watch> watch_;
};

TEST(Readiness, LeavesATurnToOthersHoweverBusySocketsAre) {
  boost::asio::io_context io(1);
  Busy one(io);
  Busy other(io);
  std::size_t before = 0;
  for (int budget = 0; budget < 10; ++budget) {
    bool ran = false;
    boost::asio::post(io, [&] { ran = true; });
    while (!ran)
      ASSERT_GT(io.run_one(), 0U);
    EXPECT_LE(one.answered + other.answered - before, 100U);
    before = one.answered + other.answered;
  }
  EXPECT_GT(one.answered, 0U);
  EXPECT_GT(other.answered, 0U);
}

// Two sockets. Serving the first one makes the second one ready.
class InARow {
 public:
  explicit InARow(boost::asio::io_context& io)
      : readiness_(boost::asio::use_service<Readiness>(io)),
        watch_(readiness_, ends_[0].get()),
        next_watch_(readiness_, next_ends_[0].get()) {}

  // Runs until nothing is left to do. Returns what happened, in order.
  std::vector<std::string> run(boost::asio::io_context& io, std::function<void(Readiness&)> in_first) {
    watch_.wait(Readiness::Side::read, [this, in_first](Readiness::ErrorCode) {
      happened.emplace_back("first");
      in_first(readiness_);
      send(next_ends_);
    });
    next_watch_.wait(Readiness::Side::read, [this](Readiness::ErrorCode) { happened.emplace_back("second"); });
    send(ends_);
    io.run();
    return happened;
  }

  void send_next() { send(next_ends_); }

  std::vector<std::string> happened;

 private:
  static void send(const std::array<UniqueFd, 2>& ends) { EXPECT_EQ(::send(ends[1].get(), "x", 1, 0), 1); }

  Readiness& readiness_;
  std::array<UniqueFd, 2> ends_ = make_pair();
  std::array<UniqueFd, 2> next_ends_ = make_pair();
  Readiness::Watch watch_;
  Readiness::Watch next_watch_;
};

TEST(Readiness, ServesOtherSocketsThoughOneCallbackThrows) {
  boost::asio::io_context io(1);
  InARow row(io);
  const auto happened = row.run(io, [&row](Readiness& readiness) {
    readiness.at_end_of_turn([] { throw std::bad_alloc(); });
    readiness.at_end_of_turn([&row] { row.happened.emplace_back("end"); });
    row.send_next();
    throw std::bad_alloc();
  });
  EXPECT_EQ(happened, (std::vector<std::string>{"first", "second", "end"}));
}

TEST(Readiness, ServesSocketsThatWereReadyTogetherThoughOneCallbackThrows) {
  boost::asio::io_context io(1);
  InARow row(io);
  row.send_next();
  EXPECT_THAT(row.run(io, [](Readiness&) { throw std::bad_alloc(); }),
              testing::UnorderedElementsAre("first", "second"));
}

TEST(Readiness, EndsATurnAfterWhatCameInIt) {
  boost::asio::io_context io(1);
  InARow row(io);
  const auto happened = row.run(
      io, [&row](Readiness& readiness) { readiness.at_end_of_turn([&row] { row.happened.emplace_back("end"); }); });
  EXPECT_EQ(happened, (std::vector<std::string>{"first", "second", "end"}));
}

TEST(Readiness, LooksAgainAfterNewsForManyOnOneSocket) {
  boost::asio::io_context io(1);
  InARow row(io);
  const auto happened = row.run(io, [&](Readiness& readiness) {
    boost::asio::post(io, [&row] { row.happened.emplace_back("posted"); });
    readiness.beat();
  });
  EXPECT_EQ(happened, (std::vector<std::string>{"first", "second", "posted"}));
}

}  // namespace
}  // namespace proteus::net
