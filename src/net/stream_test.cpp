#include "net/stream.hpp"

#include <array>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include "net/memory_stream.hpp"
#include "net/tcp_stream.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

std::pair<Stream, Stream> loopback_streams(asio::io_context& io) {
  asio::ip::tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
  TcpSocket near(io.get_executor());
  near.connect(acceptor.local_endpoint());
  TcpSocket far(io.get_executor());
  acceptor.accept(far);
  return {tcp_stream(std::move(near)), tcp_stream(std::move(far))};
}

Task<> write_all(Stream& stream, std::string text, std::optional<IoResult>& outcome) {
  const std::array<std::string_view, 3> parts = {std::string_view(text).substr(0, 1), "",
                                                 std::string_view(text).substr(1)};
  outcome = co_await stream.write(parts);
}

Task<> read_to_end(Stream& stream, std::string& into, std::optional<ErrorCode>& end) {
  std::array<char, 1000> buffer;
  while (true) {
    const auto [error, size] = co_await stream.read_some(buffer);
    if (error) {
      end = error;
      co_return;
    }
    into.append(buffer.data(), size);
  }
}

Task<> wait_readable(Stream& stream, std::optional<ErrorCode>& outcome) {
  auto [error] = co_await stream.wait_readable();
  outcome = error;
}

// The same contract for every transport.
class StreamContract : public testing::TestWithParam<bool> {
 protected:
  StreamContract() {
    auto [a, b] = GetParam() ? loopback_streams(io_) : memory_streams(io_.get_executor());
    near_ = std::move(a);
    far_ = std::move(b);
  }

  void start(Task<> task) { asio::co_spawn(io_, std::move(task), asio::detached); }
  void run() {
    io_.restart();
    io_.run();
  }

  asio::io_context io_{1};
  Stream near_;
  Stream far_;
};

TEST_P(StreamContract, CarriesMoreThanFitsInOneWriteUntilTheWriterShutsDown) {
  const std::string text(8'000'000, 'x');
  std::optional<IoResult> written;
  std::string received;
  std::optional<ErrorCode> end;
  start(write_all(near_, text, written));
  io_.poll();
  EXPECT_FALSE(written) << "nobody reads yet";
  asio::post(io_, [&] { start(read_to_end(far_, received, end)); });
  while (!written)
    io_.run_one();
  near_.shutdown();
  run();
  EXPECT_EQ(written->size, text.size());
  EXPECT_EQ(received, text);
  EXPECT_EQ(end, asio::error::eof);
}

TEST_P(StreamContract, SaysWouldBlockInsteadOfWaiting) {
  std::array<char, 8> buffer;
  EXPECT_EQ(near_.try_read(buffer).error, asio::error::would_block);
}

TEST_P(StreamContract, NoticesThePeerGoingAwayWithoutConsumingAnything) {
  std::optional<ErrorCode> outcome;
  start(wait_readable(near_, outcome));
  io_.poll();
  EXPECT_FALSE(outcome);
  far_.close();
  run();
  EXPECT_EQ(outcome, ErrorCode());
  std::array<char, 8> buffer;
  EXPECT_EQ(near_.try_read(buffer).error, asio::error::eof);
}

TEST_P(StreamContract, CallsBackOnceWhenBytesArrive) {
  int calls = 0;
  near_.on_readable([&](ErrorCode error) {
    EXPECT_FALSE(error);
    ++calls;
  });
  io_.poll();
  EXPECT_EQ(calls, 0);
  const std::array<std::string_view, 1> parts = {"hello"};
  EXPECT_EQ(far_.try_write(parts).size, 5U);
  run();
  EXPECT_EQ(calls, 1);
}

TEST_P(StreamContract, ClosingEndsWhatWaits) {
  std::optional<ErrorCode> outcome;
  start(wait_readable(near_, outcome));
  io_.poll();
  near_.close();
  run();
  EXPECT_EQ(outcome, asio::error::operation_aborted);
  std::array<char, 8> buffer;
  EXPECT_EQ(near_.try_read(buffer).error, asio::error::operation_aborted);
  near_.close();
}

INSTANTIATE_TEST_SUITE_P(Over, StreamContract, testing::Bool(),
                         [](const auto& param) { return param.param ? "Tcp" : "Memory"; });

}  // namespace
}  // namespace proteus::net
