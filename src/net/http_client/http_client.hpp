#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "net/http/fields.hpp"
#include "net/http/url.hpp"
#include "net/http_client/address_filter.hpp"
#include "net/http_client/name_lookup.hpp"
#include "net/http_client/proxy.hpp"
#include "net/http_client/response_parser.hpp"
#include "net/io/stream.hpp"
#include "net/io/tls.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::net {

struct HttpClientOptions {
  ProxySettings proxies = {};
  // How https hosts are checked; the system's authorities where it is empty. See client_tls.hpp.
  std::optional<TlsContext> tls = {};
  AddressFilter address_filter = {};
  // Another number whenever the filter may decide otherwise: connections from before are not used again. Outlives the
  // client; none where that never happens.
  const std::atomic<std::uint64_t>* filter_version = nullptr;
  // Shared with other clients; one of its own where it is empty.
  std::shared_ptr<NameLookup> names = {};
  std::string user_agent = "proteus";
  ResponseLimits response_limits = {};
  std::size_t max_idle_per_host = 64;
  // A host is one of our own processes: its connections go over a few links that they share. See multiplexer.hpp.
  bool is_multiplexed = false;
  std::chrono::milliseconds max_idle_time = std::chrono::seconds(60);
  // How often deadlines are looked at, and so how late they may be.
  std::chrono::milliseconds sweep_interval = std::chrono::milliseconds(50);
};

// Zero means no limit.
struct RequestDeadlines {
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::chrono::milliseconds head = std::chrono::seconds(30);   // from the connection to the head of the answer
  std::chrono::milliseconds whole = std::chrono::seconds(60);  // from the start to the last byte
};

// A way to end a request from outside, on its thread, wherever it is: what was not sent by then is not sent. Without
// effect once it has ended. A request that begins later with the same one is cancelled at once.
class RequestAbort {
 public:
  RequestAbort() = default;
  RequestAbort(const RequestAbort&) = delete;
  RequestAbort& operator=(const RequestAbort&) = delete;
  ~RequestAbort();

  void operator()();

 private:
  friend class ClientExchange;
  class ClientExchange* exchange_ = nullptr;
  bool requested_ = false;
};

// What to send. Nothing in it is copied: all of it must outlive the await of `send`, and nothing of it after
// that.
struct ClientRequest {
  const Url& url;
  std::string_view method = "GET";
  // Host, Content-Length, Transfer-Encoding and Connection are the client's own and refused here.
  std::span<const Field> fields = {};
  std::string_view prepared = {};       // more fields; see HttpClient::prepare
  std::string_view more_prepared = {};  // and more, besides those; see write_fields
  std::span<const std::string_view> body = {};
  RequestDeadlines deadlines = {};
  RequestAbort* abort = nullptr;  // outlives the request, and the reading of its answer, or is gone before
};

// An answer whose head has arrived. Holds its connection until the body was read to its end, which frees it
// for the next request; destroyed before, the connection is closed. Belongs to its client's thread, and may
// outlive the client.
class ClientResponse {
 public:
  // Bytes that can be read after the end of what `read_all` returns, as simdjson asks for.
  static constexpr std::size_t kPadding = 64;

  ClientResponse(ClientResponse&&) noexcept;
  ClientResponse& operator=(ClientResponse&&) noexcept;
  ~ClientResponse();

  unsigned status() const;
  // Their views live as long as the response.
  const Fields& fields() const;
  // The Content-Type without its parameters; empty for none.
  std::string_view content_type() const;
  bool has_content_type(std::string_view media_type) const;
  std::optional<std::uint64_t> content_length() const;

  // The body, or what `read_some` has left of it. The view lives as long as the response.
  Task<Result<std::string_view>> read_all(std::size_t limit);
  // The same where all of it is here; nothing where more is to come.
  Result<std::optional<std::string_view>> try_read_all(std::size_t limit);
  // Keeps what these gave where it is, for longer than the response and on any thread. The response has no body any
  // more then. Nothing where the body is short: it lies with the head.
  std::shared_ptr<const void> take_memory();
  // Whether all of it came with the head.
  bool is_all_here() const;

  // The next bytes of the body, as they arrive; empty at its end. The view holds until the next call.
  Task<Result<std::string_view>> read_some();
  // The same where some are here; nothing where more is to come.
  Result<std::optional<std::string_view>> try_read_some();

  // Of an answer that has not begun yet, which nothing can be asked of before: true once its head is here.
  Result<bool> try_read_head();
  // Until a member that tries may get further: one that could not says so again before this was awaited. What keeps it
  // from that, an abort or the end of its time too, it says.
  Task<Waited> wait();
  // Ends `wait`, where somebody waits; the answer goes on.
  void stop_waiting();

  // Moves the end of the whole exchange, counted from now; zero for none.
  void set_deadline(std::chrono::milliseconds from_now);

 private:
  friend class HttpClient;
  explicit ClientResponse(std::unique_ptr<class ClientExchange> exchange);

  std::unique_ptr<ClientExchange> exchange_;
};

// An HTTP/1.1 client with a pool of connections, for one thread. Requests may be under way side by side, each
// on a connection of its own.
//
// Redirects are answers like others. Nothing is ever sent twice: a request is repeated only where a pooled
// connection turned out to be closed before it took a single byte.
//
// Errors of `send` and of reading a body:
//   unreachable  nothing was sent, for certain: name, connection, TLS, proxy, or no time left for these
//   interrupted  the connection broke after bytes may have been sent
//   timeout      a deadline passed after bytes may have been sent
//   protocol     the answer is not valid HTTP/1.1
//   too_large    the answer breaks a limit
//   cancelled    the awaiting coroutine was cancelled, the request aborted, or the client closed
//   invalid      the request cannot be expressed
//   or what the address filter said
class HttpClient {
 public:
  // `io` and `clock` must outlive the client and every response.
  HttpClient(boost::asio::io_context& io, const Clock& clock, HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Task<Result<ClientResponse>> send(ClientRequest request);

  // Fields that many requests have, and those that all have, checked and written once.
  Result<std::string> prepare(std::span<const Field> fields) const;

  // Sends it at once, over an idle connection, and gives the answer before its head has arrived. Nothing where that
  // cannot be done, and then nothing was sent. Of the request only what it is aborted by need live on.
  std::optional<ClientResponse> try_send(const ClientRequest& request);

  // Ends everything under way as cancelled and closes idle connections. Later requests are cancelled, too.
  void close();

  // Looks at deadlines now. A timer does that; tests that move a clock by hand call it themselves.
  void sweep();

  struct Stats {
    std::size_t opened = 0;  // connections, ever
    std::size_t reused = 0;
    std::size_t idle = 0;   // now
    std::size_t spare = 0;  // exchanges whose memory waits for the next request
  };
  Stats stats() const;

 private:
  static Task<Result<ClientResponse>> perform(std::shared_ptr<class ClientCore> core, ClientRequest request);

  std::shared_ptr<ClientCore> core_;
};

}  // namespace proteus::net
