#include "net/http_client/connecting.hpp"

#include <array>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "net/http/fields.hpp"
#include "net/io/completion.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

// Further addresses of a name are ignored: trying them is not worth the wait.
constexpr std::size_t kMaxAddresses = 16;

// Returns the authority, always with a port: CONNECT requires one even if it is the default.
std::string host_and_port(const Url& url) {
  const std::string port = fmt::format(":{}", url.port());
  return url.authority().ends_with(port) ? std::string(url.authority()) : fmt::format("{}{}", url.authority(), port);
}

// RFC 6761, section 6.3
bool is_localhost(std::string_view host) {
  constexpr std::string_view kBelow = ".localhost";
  return same_field_name(host, kBelow.substr(1)) ||
         (host.size() > kBelow.size() && same_field_name(host.substr(host.size() - kBelow.size()), kBelow));
}

}  // namespace

// Receives the result of a name lookup, on the thread of the connection attempt.
struct Lookup {
  explicit Lookup(asio::io_context& io) : answered(io.get_executor()) {}
  void take(FoundName answer) {
    found = std::move(answer);
    answered.ring();
  }
  Bell answered;
  std::optional<FoundName> found;
};

std::vector<asio::ip::address> known_addresses(std::string_view host) {
  if (is_localhost(host)) {
    return {asio::ip::address_v4::loopback(), asio::ip::address_v6::loopback()};
  }
  ErrorCode error;
  const auto address = asio::ip::make_address(std::string(host), error);
  if (error) return {};
  return {address};
}

Result<> check_behind_proxy(const AddressFilter& filter, const Url& url) {
  if (!filter) return {};
  for (const auto& address : known_addresses(url.host())) {
    if (auto allowed = filter(url, address); !allowed) return allowed;
  }
  return {};
}

Task<Result<Stream>> Connecting::run(const Url& url, const Proxy* proxy, Clock::Monotonic deadline) {
  static const AddressFilter none;
  watch(means_.deadlines, deadline);
  const Url& first = proxy ? proxy->url : url;
  auto endpoints = co_await resolve(first);
  if (!endpoints) co_return std::unexpected(std::move(endpoints).error());
  auto stream = co_await connect(first, std::move(*endpoints), deadline, proxy ? none : means_.filter);
  if (!stream) co_return stream;
  if (proxy && proxy->url.is_https()) {
    stream = co_await secure(std::move(*stream), proxy->url);
    if (!stream) co_return stream;
  }
  if (proxy && url.is_https()) {
    stream_ = &*stream;
    auto opened = co_await open_tunnel(*stream, url, *proxy);
    stream_ = nullptr;
    if (!opened) co_return std::unexpected(std::move(opened).error());
  }
  if (url.is_https()) stream = co_await secure(std::move(*stream), url);
  co_return stream;
}

Task<Result<Connecting::Endpoints>> Connecting::resolve(const Url& host) {
  Endpoints endpoints;
  for (const auto& address : known_addresses(host.host()))
    endpoints.emplace_back(address, host.port());
  if (!endpoints.empty()) co_return endpoints;

  const auto lookup = lookup_ = std::make_shared<Lookup>(means_.io);
  // The Lookup may be destroyed before the result arrives.
  const auto notify = [&io = means_.io, waiting = std::weak_ptr(lookup)](const FoundName& found) {
    asio::post(io, [waiting, found] {
      if (const auto still = waiting.lock()) still->take(found);
    });
  };
  const auto wait = means_.names->find(std::string(host.host()), notify);
  if (!wait) co_return std::unexpected(wait.error());
  while (!lookup->found) {
    co_await lookup->answered.wait_quietly();
    const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
    if (is_given_up_ || cancelled != asio::cancellation_type::none) {
      co_return std::unexpected(failure(host, "looking up its name", cancelled));
    }
  }
  if (lookup->found->error) {
    co_return std::unexpected(
        errors::unreachable(fmt::format("cannot find {}: {}", host.host(), lookup->found->error.message())));
  }
  for (const auto& address : lookup->found->addresses) {
    if (endpoints.size() < kMaxAddresses) endpoints.emplace_back(address, host.port());
  }
  co_return endpoints;
}

Task<Result<Stream>> Connecting::connect(const Url& host, Endpoints endpoints, Clock::Monotonic deadline,
                                         const AddressFilter& filter) {
  std::optional<Error> refused;
  Error failed = errors::unreachable(fmt::format("{} has no address", host.host()));
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (filter) {
      if (auto allowed = filter(host, endpoints[i].address()); !allowed) {
        refused = std::move(allowed).error();
        continue;
      }
    }
    // `give_up` may have been called while there was no operation to end.
    if (is_given_up_) co_return std::unexpected(failure(host, "", asio::cancellation_type::none));
    const auto now = means_.clock.now();
    const auto left = deadline == Clock::Monotonic::max() ? deadline - now : std::max(deadline - now, {});
    set_deadline(now + left / static_cast<int>(endpoints.size() - i));
    socket_.emplace(means_.io);
    ErrorCode error = open_socket(*socket_, endpoints[i].protocol());
    if (!error) error = std::get<0>(co_await socket_->async_connect(endpoints[i], kAwaited));
    if (!error) {
      set_deadline(deadline);
      auto stream = tcp_stream(std::move(*socket_));
      socket_.reset();
      co_return stream;
    }
    const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
    failed = failure(host, error.message(), cancelled);
    // If only the time of this address is up, the next one is tried.
    if (is_abandoned_) break;
    if (!is_expired() && (is_given_up_ || cancelled != asio::cancellation_type::none)) break;
    clear_expired();
    is_given_up_ = false;
  }
  co_return std::unexpected(refused ? *std::move(refused) : std::move(failed));
}

Task<Result<>> Connecting::open_tunnel(Stream& stream, const Url& url, const Proxy& proxy) {
  const std::string host = host_and_port(url);
  std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", host);
  if (!proxy.authorization.empty()) head += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
  head += "\r\n";
  const std::array<std::string_view, 1> parts = {head};
  IoResult moved = co_await stream.write(parts);

  ResponseParser parser;
  parser.begin(means_.proxy_limits, AnswerBody::none);
  Fields fields;
  std::string received;
  std::array<char, 2048> bytes;
  while (!moved.error) {
    moved = co_await stream.read_some(bytes);
    received.append(bytes.data(), moved.size);
    auto end = parser.parse_head(received, fields);
    if (!end) co_return std::unexpected(errors::unreachable(end.error().message()).within(proxy.url.authority()));
    if (*end == 0) continue;
    if (parser.status() / 100 == 2 && *end == received.size()) co_return Result<>{};
    co_return std::unexpected(errors::unreachable(
        fmt::format("proxy {} refused to connect to {}: status {}", proxy.url.authority(), host, parser.status())));
  }
  const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
  co_return std::unexpected(failure(proxy.url, moved.error.message(), cancelled));
}

Task<Result<Stream>> Connecting::secure(Stream stream, const Url& host) {
  const auto context = means_.tls();
  if (!context) co_return std::unexpected(context.error());
  Stream secured = tls_client_stream(std::move(stream), *context, std::string(host.host()));
  stream_ = &secured;
  auto shaken = co_await secured.handshake();
  stream_ = nullptr;
  if (!shaken) {
    const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
    co_return std::unexpected(failure(host, shaken.error().message(), cancelled));
  }
  co_return secured;
}

Error Connecting::failure(const Url& host, std::string_view why, asio::cancellation_type cancelled) const {
  const std::string what = fmt::format("connecting to {}", host.authority());
  if (is_expired() && !is_abandoned_) return errors::unreachable(what + " timed out");
  if (is_given_up_ || cancelled != asio::cancellation_type::none) return errors::cancelled(what);
  return errors::unreachable(fmt::format("{}: {}", what, why));
}

void Connecting::abandon() {
  is_abandoned_ = true;
  give_up();
}

void Connecting::give_up() {
  is_given_up_ = true;
  if (lookup_) lookup_->answered.ring();
  ErrorCode ignored;
  if (socket_) socket_->close(ignored);
  if (stream_) stream_->close();
}

}  // namespace proteus::net
