#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/tasks/task.hpp"
#include "base/tasks/waiting.hpp"
#include "net/http/url.hpp"
#include "net/http_client/address_filter.hpp"
#include "net/http_client/name_lookup.hpp"
#include "net/http_client/proxy.hpp"
#include "net/http_client/response_parser.hpp"
#include "net/io/deadlines.hpp"
#include "net/io/tcp_stream.hpp"
#include "net/io/tls.hpp"

namespace proteus::net {

// One attempt to open a connection for requests to a URL. Fails with `unreachable`, because nothing was sent to the
// URL's host yet; with `cancelled`; or with the error of the filter or of `Means::tls`.
class Connecting final : private Timed {
 public:
  struct Means {
    boost::asio::io_context& io;
    const Clock& clock;
    Deadlines& deadlines;
    const AddressFilter& filter;  // may be empty
    std::shared_ptr<NameLookup> names;
    std::function<Result<TlsContext>()> tls;  // called only for https
    ResponseLimits proxy_limits;
  };
  explicit Connecting(Means means) : means_(std::move(means)) {}

  // Tries all addresses of the host in turn, each with an equal share of the time that is left. Through a proxy,
  // resolves only the proxy's name, and does not consult the filter; see `check_behind_proxy`. The arguments must
  // outlive the await.
  Task<Result<Stream>> run(const Url& url, const Proxy* proxy, Clock::Monotonic deadline);

  // Cancels the attempt, whatever state it is in.
  void abandon();

 private:
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  Task<Result<Endpoints>> resolve(const Url& host);
  Task<Result<Stream>> connect(const Url& host, Endpoints endpoints, Clock::Monotonic deadline,
                               const AddressFilter& filter);
  Task<Result<>> open_tunnel(Stream& stream, const Url& url, const Proxy& proxy);
  Task<Result<Stream>> secure(Stream stream, const Url& host);

  Error failure(const Url& host, std::string_view why, boost::asio::cancellation_type cancelled) const;
  void give_up() override;

  Means means_;
  std::shared_ptr<struct Lookup> lookup_;
  std::optional<TcpSocket> socket_;
  Stream* stream_ = nullptr;
  bool is_given_up_ = false;   // stop trying this address
  bool is_abandoned_ = false;  // stop trying any address
};

// Returns the addresses of a host that needs no lookup: an IP address, or localhost in both families. Empty for others.
std::vector<boost::asio::ip::address> known_addresses(std::string_view host);

// Applies the filter to a host that only the proxy looks up, if its addresses are known without a lookup. Must be
// called for each request, because one connection to a proxy serves all hosts.
Result<> check_behind_proxy(const AddressFilter& filter, const Url& url);

}  // namespace proteus::net
