// Fuzzes the server's connection code with the bytes of a client over an in-memory stream. The first byte of the input
// determines the size of the pieces in which the rest arrives. The same bytes in one piece must produce the same
// statuses.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "base/log/log.hpp"
#include "net/http_server/http_worker.hpp"
#include "net/io/memory_stream.hpp"

namespace {

using namespace proteus;

void check(bool kept) {
  if (!kept) std::abort();
}

// Reads everything in the request, and answers in one of several ways.
Task<> answer(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  std::size_t sum = request.method().size() + request.path().size() + request.query().size() + request.body().size();
  for (const auto& [name, value] : request.fields()) {
    for (const char c : value)
      check(c != '\r' && c != '\n' && c != '\0');
    check(!name.empty());
    sum += value.size();
  }
  const volatile char padding = request.body().data()[request.body().size() + net::Request::kBodyPadding - 1];
  static_cast<void>(padding);
  const std::string text = std::to_string(sum);
  switch (sum % 4) {
    case 0: exchange.on_disconnect([] {}); break;
    case 1:
      co_await exchange.begin_stream({});
      co_await exchange.write(text);
      co_return;
    case 2: exchange.on_drain([] {}); break;
    default: break;
  }
  co_await exchange.reply({}, text);
}

class Session {
 public:
  explicit Session(std::size_t piece) : piece_(piece) {
    net::HttpLimits limits;
    limits.head_bytes = 512;
    limits.head_fields = 16;
    limits.body_bytes = 2048;
    memory_.emplace(limits);
    worker_.emplace(io_, limits, *memory_, net::with_body(answer), clock_, std::chrono::milliseconds(1));
    auto [near, far] = net::memory_streams(io_.get_executor(), 4096);
    client_ = std::move(near);
    worker_->adopt(std::move(far));
  }

  std::string run(std::string_view bytes) {
    while (true) {
      poll();
      drain_answers();
      if (bytes.empty()) break;
      const std::string_view part = bytes.substr(0, piece_);
      const net::IoResult sent = client_.try_write({&part, 1});
      bytes.remove_prefix(sent.size);
      if (sent.error && sent.size == 0 && drain_answers() == 0) break;
    }
    end();
    return received_;
  }

 private:
  void poll() {
    io_.restart();
    io_.poll();
  }

  std::size_t drain_answers() {
    std::size_t total = 0;
    char buffer[4096];
    while (true) {
      const auto [error, size] = client_.try_read(buffer);
      if (error) return total;
      received_.append(buffer, size);
      total += size;
      poll();
    }
  }

  // Checks that in any state the connection times out without help from the client.
  void end() {
    for (int i = 0; i < 4; ++i) {
      clock_.advance(std::chrono::seconds(100));
      worker_->sweep();
      poll();
    }
    check(worker_->connections() == 0);
    worker_->begin_drain(std::chrono::milliseconds(0));
    boost::asio::co_spawn(io_, worker_->finish_drain(), boost::asio::detached);
    poll();
    client_.close();
    poll();
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  std::optional<net::ReadMemory> memory_;
  std::optional<net::HttpWorker> worker_;
  net::Stream client_;
  std::size_t piece_;
  std::string received_;
};

std::vector<std::string> statuses(std::string_view received) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = received.find("HTTP/1.1 ", at)) != std::string_view::npos; at += 9) {
    // Whether 100 Continue is sent depends on the pieces: not if the body has already begun to arrive.
    if (auto status = received.substr(at + 9, 3); status != "100") found.emplace_back(status);
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  log::set_level(log::Level::off);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string pieces = Session(1 + data[0] % 64).run(bytes);
  const std::string whole = Session(bytes.size() + 1).run(bytes);
  check(statuses(pieces) == statuses(whole));
  return 0;
}
