#include "net/http_client/http_client.hpp"

#include <algorithm>

#include <boost/asio/error.hpp>

#include "net/http_client/client_core.hpp"
#include "net/http_client/client_exchange.hpp"
#include "net/http_client/request_head.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

Clock::Monotonic after(Clock::Monotonic start, std::chrono::milliseconds time) {
  return time.count() > 0 ? start + time : Clock::Monotonic::max();
}

Task<Result<>> connect(ClientExchange& exchange, const Url& url, const Proxy* proxy, Clock::Monotonic deadline) {
  ClientCore& core = exchange.core();
  Connecting& connecting = exchange.start_connecting();
  core.arm();
  auto stream = co_await connecting.run(url, proxy, deadline);
  if (!stream) co_return std::unexpected(std::move(stream).error());
  core.count_opened();
  exchange.adopt(std::move(*stream));
  if (exchange.is_aborted()) co_return std::unexpected(errors::cancelled("the request"));
  co_return Result<>{};
}

// Returns an exchange that lacks only a connection.
Result<std::unique_ptr<ClientExchange>> begin(const std::shared_ptr<ClientCore>& core, const ClientRequest& request,
                                              const Proxy* proxy) {
  const Url& url = request.url;
  auto exchange = core->new_exchange();
  auto written = write_request_head(exchange->head_text, request, core->options().user_agent, proxy);
  if (!written) return std::unexpected(std::move(written).error());
  exchange->begin(core, proxy && !url.is_https() ? std::string_view(proxy->pool_key) : url.origin(),
                  request.method == "HEAD" ? AnswerBody::none : AnswerBody::allowed);
  if (request.abort != nullptr) exchange->abort_by(*request.abort);
  if (exchange->is_aborted()) return std::unexpected(errors::cancelled("the request"));
  const auto now = core->clock().recent();
  exchange->set_end(after(now, request.deadlines.whole));
  return exchange;
}

}  // namespace

HttpClient::HttpClient(asio::io_context& io, const Clock& clock, HttpClientOptions options)
    : core_(std::make_shared<ClientCore>(io, clock, std::move(options))) {}

HttpClient::~HttpClient() { core_->close(); }

void HttpClient::close() { core_->close(); }
void HttpClient::sweep() { core_->sweep(); }
HttpClient::Stats HttpClient::stats() const { return core_->stats(); }

Task<Result<ClientResponse>> HttpClient::send(ClientRequest request) { return perform(core_, request); }

Task<Result<ClientResponse>> HttpClient::perform(std::shared_ptr<ClientCore> core, ClientRequest request) {
  const Url& url = request.url;
  if (core->is_closed()) co_return std::unexpected(errors::cancelled("the request"));
  const Proxy* proxy = core->options().proxies.find(url);
  if (proxy) {
    if (auto allowed = check_behind_proxy(core->options().address_filter, url); !allowed)
      co_return std::unexpected(std::move(allowed).error());
  }
  auto begun = begin(core, request, proxy);
  if (!begun) co_return std::unexpected(std::move(begun).error());
  auto exchange = std::move(*begun);
  auto now = core->clock().recent();
  const auto end = exchange->end_time();

  for (;;) {
    const bool reused = exchange->take_idle_connection();
    if (!reused && !exchange->open_over_link()) {
      auto connected = co_await connect(*exchange, url, proxy, std::min(after(now, request.deadlines.connect), end));
      if (!connected) co_return std::unexpected(std::move(connected).error());
      now = core->clock().now();
    }
    exchange->start_deadline(std::min(after(now, request.deadlines.head), end));
    const auto sent = exchange->write_at_once(request.body);
    if (sent) break;
    if (!reused) co_return std::unexpected(errors::unreachable(sent.error().message()).within(url.authority()));
  }

  for (bool complete = false; !complete;) {
    if (auto [error] = co_await exchange->wait(); error) co_return std::unexpected(exchange->broken(error));
    auto received = exchange->receive_head();
    if (!received) co_return std::unexpected(std::move(received).error());
    complete = *received;
  }
  exchange->keep_unsent();
  co_return ClientResponse(std::move(exchange));
}

Result<std::string> HttpClient::prepare(std::span<const Field> fields) const {
  return prepare_fields(fields, core_->options().user_agent);
}

std::optional<ClientResponse> HttpClient::try_send(const ClientRequest& request) {
  if (core_->is_closed() || core_->options().proxies.find(request.url) != nullptr) return std::nullopt;
  auto begun = begin(core_, request, nullptr);
  if (!begun) return std::nullopt;
  ClientResponse response(std::move(*begun));
  ClientExchange& exchange = *response.exchange_;
  const auto head = after(core_->clock().recent(), request.deadlines.head);
  if (!exchange.send_over_idle(request.body, std::min(head, exchange.end_time()))) return std::nullopt;
  return response;
}

RequestAbort::~RequestAbort() {
  if (exchange_ != nullptr) exchange_->forget_abort();
}

void RequestAbort::operator()() {
  requested_ = true;
  if (exchange_ != nullptr) exchange_->abort();
}

ClientResponse::ClientResponse(std::unique_ptr<ClientExchange> exchange) : exchange_(std::move(exchange)) {}
ClientResponse::ClientResponse(ClientResponse&&) noexcept = default;

ClientResponse& ClientResponse::operator=(ClientResponse&& other) noexcept {
  std::swap(exchange_, other.exchange_);
  return *this;
}

ClientResponse::~ClientResponse() {
  if (!exchange_) return;
  const auto core = exchange_->core().shared_from_this();
  exchange_->end();
  core->recycle(std::move(exchange_));
}

unsigned ClientResponse::status() const { return exchange_->status(); }
const Fields& ClientResponse::fields() const { return exchange_->fields(); }
std::optional<std::uint64_t> ClientResponse::content_length() const { return exchange_->parser().content_length(); }

std::string_view ClientResponse::content_type() const {
  std::string_view value = fields().find("content-type").value_or("");
  value = value.substr(0, value.find(';'));
  return value.substr(0, value.find_last_not_of(" \t") + 1);
}

bool ClientResponse::has_content_type(std::string_view media_type) const {
  return same_field_name(content_type(), media_type);
}

Task<Result<std::string_view>> ClientResponse::read_all(std::size_t limit) { return exchange_->read_all(limit); }
Result<std::optional<std::string_view>> ClientResponse::try_read_all(std::size_t limit) {
  return exchange_->try_read_all(limit);
}
std::shared_ptr<const void> ClientResponse::take_memory() { return exchange_->take_memory(); }
bool ClientResponse::is_all_here() const { return exchange_->is_all_here(); }
Result<bool> ClientResponse::try_read_head() { return exchange_->receive_head(); }
Result<std::optional<std::string_view>> ClientResponse::try_read_some() { return exchange_->try_read_some(); }
Task<Waited> ClientResponse::wait() { return exchange_->wait(); }
void ClientResponse::stop_waiting() { exchange_->stop_waiting(); }
Task<Result<std::string_view>> ClientResponse::read_some() { return exchange_->read_some(); }

void ClientResponse::set_deadline(std::chrono::milliseconds from_now) {
  exchange_->move_end(after(exchange_->core().clock().recent(), from_now));
}

}  // namespace proteus::net
