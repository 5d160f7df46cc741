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
#include "base/tasks/task.hpp"
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
  // TLS settings for https hosts; see client_tls.hpp. If empty, the first https request reads the system's authorities,
  // which occupies the thread for some 50 ms.
  std::optional<TlsContext> tls = {};
  AddressFilter address_filter = {};
  // A number that changes whenever the filter may decide differently: connections that were opened under another number
  // are not reused. Must outlive the client. Null if the filter never changes.
  const std::atomic<std::uint64_t>* filter_version = nullptr;
  // May be shared with other clients. If null, the client makes its own.
  std::shared_ptr<NameLookup> names = {};
  std::string user_agent = "proteus";
  ResponseLimits response_limits = {};
  std::size_t max_idle_per_host = 64;
  // True for requests to other processes of the cluster: connections to a host share a few links. See multiplexer.hpp.
  bool is_multiplexed = false;
  std::chrono::milliseconds max_idle_time = std::chrono::seconds(60);
  // Interval at which deadlines are checked, and so the longest delay until a passed deadline takes effect.
  std::chrono::milliseconds sweep_interval = std::chrono::milliseconds(50);
};

// Time limits of a request. Zero means no limit.
struct RequestDeadlines {
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::chrono::milliseconds head = std::chrono::seconds(30);   // from the established connection to the response head
  std::chrono::milliseconds whole = std::chrono::seconds(60);  // from the start to the last byte
};

// A handle to abort a request, whatever state the request is in. Belongs to the request's thread. What was not sent yet
// is not sent. Has no effect on a request that has ended. A request that starts later with the same handle is cancelled
// at once.
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

// What to send. Nothing in it is copied: everything must outlive the await of `send`, and nothing is used afterwards,
// except `abort`.
struct ClientRequest {
  const Url& url;
  std::string_view method = "GET";
  // Without the fields that the client sets itself (Host, Content-Length, Transfer-Encoding, Connection and the like),
  // which are rejected here.
  std::span<const Field> fields = {};
  std::string_view prepared = {};       // more fields, as lines; see HttpClient::prepare
  std::string_view more_prepared = {};  // more fields, as lines; see write_fields
  std::span<const std::string_view> body = {};
  RequestDeadlines deadlines = {};
  RequestAbort* abort = nullptr;  // may be destroyed while the request runs
};

// A response whose head has arrived, or will arrive later if `try_send` returned it. Holds its connection until the
// body has been read to its end, and then returns the connection to the pool. Destroying it earlier closes the
// connection, unless all of the body has been received. Belongs to its client's thread, and may outlive the client.
class ClientResponse {
 public:
  // Number of readable bytes after the end of what `read_all` returns, as simdjson requires.
  static constexpr std::size_t kPadding = 64;

  ClientResponse(ClientResponse&&) noexcept;
  ClientResponse& operator=(ClientResponse&&) noexcept;
  ~ClientResponse();

  unsigned status() const;
  // The views in the fields are valid as long as the response lives.
  const Fields& fields() const;
  // Returns the Content-Type without its parameters; empty if there is none.
  std::string_view content_type() const;
  bool has_content_type(std::string_view media_type) const;
  std::optional<std::uint64_t> content_length() const;

  // Returns the body, or what `read_some` has left of it. The view is valid as long as the response lives.
  Task<Result<std::string_view>> read_all(std::size_t limit);
  // Like `read_all` if the whole body has arrived; otherwise returns nothing.
  Result<std::optional<std::string_view>> try_read_all(std::size_t limit);
  // Returns an owner of the body's memory, which keeps the returned view of the body valid on any thread, even after
  // the response. The response has no body afterwards. Returns null for a short body, which shares the memory of the
  // head.
  std::shared_ptr<const void> take_memory();
  // Whether the whole body arrived together with the head. Valid only before the body is read; false if its length is
  // unknown.
  bool is_all_here() const;

  // Returns the next bytes of the body as they arrive; empty at its end. The view is valid until the next call.
  Task<Result<std::string_view>> read_some();
  // Like `read_some` if bytes have arrived; otherwise returns nothing.
  Result<std::optional<std::string_view>> try_read_some();

  // For a response from `try_send`: returns true once the head has arrived. Until then, only `wait`, `stop_waiting` and
  // `set_deadline` may be called as well.
  Result<bool> try_read_head();
  // Waits until a `try_` member may make progress. Call it only after a `try_` member has returned nothing or false.
  // Failures, including an abort and a passed deadline, are reported by the next `try_` call.
  Task<Waited> wait();
  // Ends a running `wait`, without effect on the response.
  void stop_waiting();

  // Replaces the deadlines of the exchange by one, counted from now; zero for none.
  void set_deadline(std::chrono::milliseconds from_now);

 private:
  friend class HttpClient;
  explicit ClientResponse(std::unique_ptr<class ClientExchange> exchange);

  std::unique_ptr<ClientExchange> exchange_;
};

// An HTTP/1.1 client with a connection pool, for one thread. Requests may run concurrently, each on its own connection.
//
// Redirects are returned like any other response. Nothing is ever sent twice: a request is repeated only if a pooled
// connection turned out to be closed before it accepted a single byte.
//
// Errors of `send` and of reading a body:
//   unreachable  nothing was sent, for certain: name, connection, TLS or proxy failed, or their time was up
//   interrupted  the connection broke after bytes may have been sent
//   timeout      a deadline passed after bytes may have been sent
//   protocol     the response is not valid HTTP/1.1
//   too_large    the response exceeds a limit
//   cancelled    the awaiting coroutine was cancelled, the request aborted, or the client closed
//   invalid      the request cannot be written as HTTP/1.1
//   or the error of the address filter
class HttpClient {
 public:
  // `io` and `clock` must outlive the client and every response.
  HttpClient(boost::asio::io_context& io, const Clock& clock, HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Task<Result<ClientResponse>> send(ClientRequest request);

  // Checks and writes fields that many requests share, and those that every request has. For ClientRequest::prepared.
  Result<std::string> prepare(std::span<const Field> fields) const;

  // Sends the request at once over an idle connection, and returns the response before its head has arrived. Returns
  // nothing if that is impossible; then nothing was sent. Of the request, only `abort` is used after the call.
  std::optional<ClientResponse> try_send(const ClientRequest& request);

  // Cancels all running requests and closes idle connections. Later requests are cancelled, too.
  void close();

  // Enforces deadlines now. A timer calls it; tests with a ManualClock call it themselves.
  void sweep();

  struct Stats {
    std::size_t opened = 0;  // connections opened so far
    std::size_t reused = 0;
    std::size_t idle = 0;   // idle connections now
    std::size_t spare = 0;  // exchanges that are kept for reuse
  };
  Stats stats() const;

 private:
  static Task<Result<ClientResponse>> perform(std::shared_ptr<class ClientCore> core, ClientRequest request);

  std::shared_ptr<ClientCore> core_;
};

}  // namespace proteus::net
