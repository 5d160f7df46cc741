#include "net/io/stream.hpp"

#include <array>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <gtest/gtest.h>

#include "net/io/memory_stream.hpp"
#include "net/io/multiplexer.hpp"
#include "net/io/tls.hpp"
#include "net/testing/loopback_streams.hpp"
#include "net/testing/self_signed.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

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

Task<> shake_hands(Stream& stream, Result<>& outcome) { outcome = co_await stream.handshake(); }

struct Layers {
  bool tcp;
  bool tls;
  bool multiplexed = false;
};

// The same contract for every transport.
class StreamContract : public testing::TestWithParam<Layers> {
 protected:
  StreamContract() {
    std::tie(near_, far_) = GetParam().tcp ? test::loopback_streams(io_) : memory_streams(io_.get_executor());
    if (GetParam().tls) secure();
    if (GetParam().multiplexed) multiplex();
  }
  ~StreamContract() override {
    near_ = {};
    far_ = {};
    links_.clear();
    run();
  }

  void multiplex() {
    links_.push_back(std::make_shared<Multiplexer>(std::move(near_)));
    links_.push_back(
        std::make_shared<Multiplexer>(std::move(far_), [this](Stream opened) { far_ = std::move(opened); }));
    for (const auto& link : links_)
      link->start();
    near_ = links_.front()->open();
    const std::string_view opening = "!";
    near_.try_write({&opening, 1});
    io_.restart();
    while (!far_)
      io_.run_one();
    std::array<char, 1> byte;
    EXPECT_EQ(far_.try_read(byte).size, 1U);
  }

  void secure() {
    static const SelfSigned self_signed;
    near_ =
        tls_client_stream(std::move(near_), TlsContext::client(self_signed.certificate_file()).value(), "localhost");
    far_ = tls_server_stream(std::move(far_),
                             TlsContext::server(self_signed.certificate_file(), self_signed.key_file()).value());
    Result<> client = std::unexpected(errors::internal("did not end"));
    Result<> server = client;
    start(shake_hands(near_, client));
    start(shake_hands(far_, server));
    run();
    EXPECT_TRUE(client) << client.error().message();
    EXPECT_TRUE(server) << server.error().message();
    // Only OpenSSL sees the session tickets that follow a handshake: this reads them.
    std::array<char, 1> nothing;
    EXPECT_EQ(near_.try_read(nothing).error, asio::error::would_block);
  }

  void start(Task<> task) {
    io_.restart();
    asio::co_spawn(io_, std::move(task), asio::detached);
  }
  void run() {
    io_.restart();
    if (links_.empty()) {
      io_.run();
    } else {
      // A link reads as long as it is open, so `io_.run` would not return.
      while (io_.poll() > 0) {
      }
    }
  }

  asio::io_context io_{1};
  std::vector<std::shared_ptr<Multiplexer>> links_;
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
  far_.shutdown();
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

TEST_P(StreamContract, WaitingCanBeStoppedAndBegunAgain) {
  near_.stop_waiting();  // nobody waits
  std::optional<ErrorCode> stopped;
  start(wait_readable(near_, stopped));
  io_.poll();
  EXPECT_FALSE(stopped);
  near_.stop_waiting();
  run();
  EXPECT_EQ(stopped, asio::error::operation_aborted);
  io_.restart();
  std::optional<ErrorCode> readable;
  start(wait_readable(near_, readable));
  io_.poll();
  EXPECT_FALSE(readable);
  const std::array<std::string_view, 1> parts = {"hello"};
  EXPECT_EQ(far_.try_write(parts).size, 5U);
  run();
  EXPECT_EQ(readable, ErrorCode());
}

TEST_P(StreamContract, CallsBackWithAnErrorIfWaitingIsStopped) {
  std::optional<ErrorCode> readable;
  std::optional<ErrorCode> writable;
  const std::string text(100'000, 'x');
  const std::array<std::string_view, 1> parts = {text};
  while (!near_.try_write(parts).error) {
  }
  near_.on_readable([&](ErrorCode error) { readable = error; });
  near_.on_writable([&](ErrorCode error) { writable = error; });
  io_.restart();
  io_.poll();
  EXPECT_FALSE(readable || writable);
  near_.stop_waiting();
  run();
  EXPECT_EQ(readable, asio::error::operation_aborted);
  EXPECT_EQ(writable, asio::error::operation_aborted);
}

TEST_P(StreamContract, TellsATruncatedTlsStreamFromOneThatEnded) {
  if (!GetParam().tls || GetParam().multiplexed) GTEST_SKIP();
  far_.close();
  std::array<char, 8> buffer;
  EXPECT_EQ(near_.try_read(buffer).error, asio::ssl::error::stream_truncated);
}

INSTANTIATE_TEST_SUITE_P(Over, StreamContract,
                         testing::Values(Layers{false, false}, Layers{true, false}, Layers{false, true},
                                         Layers{true, true}, Layers{false, false, true}, Layers{true, true, true}),
                         [](const auto& param) {
                           return std::string(param.param.multiplexed ? "Multiplexed" : "") +
                                  (param.param.tls ? "Tls" : "") + (param.param.tcp ? "Tcp" : "Memory");
                         });

class TlsClient : public testing::Test {
 protected:
  // Returns the client's outcome of a handshake with a server whose certificate is self-signed.
  Result<> connect(const TlsContext& context, const std::string& host) {
    auto [near, far] = memory_streams(io_.get_executor());
    Stream client = tls_client_stream(std::move(near), context, host);
    Stream server = tls_server_stream(
        std::move(far), TlsContext::server(self_signed_.certificate_file(), self_signed_.key_file()).value());
    Result<> outcome;
    Result<> servers;
    asio::co_spawn(io_, shake_hands(client, outcome), asio::detached);
    asio::co_spawn(io_, shake_hands(server, servers), asio::detached);
    io_.poll();
    client.close();
    server.close();
    io_.restart();
    io_.run();
    return outcome;
  }

  asio::io_context io_{1};
  SelfSigned self_signed_;
};

TEST_F(TlsClient, AcceptsACertificateForTheAddressItAskedFor) {
  EXPECT_TRUE(connect(TlsContext::client(self_signed_.certificate_file()).value(), "127.0.0.1"));
}

TEST_F(TlsClient, RefusesACertificateOfAnUnknownAuthority) {
  const auto outcome = connect(TlsContext::client().value(), "localhost");
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message().find("self-signed"), std::string::npos) << outcome.error().message();
}

TEST_F(TlsClient, RefusesACertificateForAnotherHost) {
  const auto outcome = connect(TlsContext::client(self_signed_.certificate_file()).value(), "example.org");
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message().find("mismatch"), std::string::npos) << outcome.error().message();
}

TEST_F(TlsClient, RefusesACertificateForAnotherAddress) {
  const auto outcome = connect(TlsContext::client(self_signed_.certificate_file()).value(), "127.0.0.2");
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message().find("mismatch"), std::string::npos) << outcome.error().message();
}

TEST_F(TlsClient, SaysWhichFileIsNotUsable) {
  const auto context = TlsContext::server(self_signed_.key_file(), self_signed_.key_file());
  ASSERT_FALSE(context);
  EXPECT_NE(context.error().message().find("key.pem"), std::string::npos);
  EXPECT_FALSE(TlsContext::server(self_signed_.certificate_file(), "/nonexistent"));
  EXPECT_FALSE(TlsContext::client("/nonexistent"));
}

}  // namespace
}  // namespace proteus::net
