#include "server/http/http_endpoint.hpp"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "net/http_server/response_head.hpp"
#include "server/http/challenge.hpp"
#include "server/http/cors.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/legacy_http.hpp"
#include "server/http/modern_http.hpp"

namespace proteus::server {
namespace {

bool modern_version(std::optional<std::string_view> header) {
  const auto version = header ? mcp::parse_version(*header) : std::nullopt;
  return version && mcp::era_of(*version) == mcp::Era::modern;
}

// The methods that a path accepts, as lists and in words.
struct Methods {
  std::string_view list;
  std::string_view allow;
  const char* why_not;
};
constexpr Methods kAnyEra = {"GET, POST, DELETE, OPTIONS", "Allow: GET, POST, DELETE, OPTIONS\r\n",
                             "This endpoint takes GET, POST, DELETE and OPTIONS"};
constexpr Methods kModernOnly = {"POST, OPTIONS", "Allow: POST, OPTIONS\r\n", "This endpoint takes POST and OPTIONS"};
constexpr Methods kOldStream = {"GET, OPTIONS", "Allow: GET, OPTIONS\r\n",
                                "This path takes GET and OPTIONS; GET opens the stream of the HTTP+SSE transport, and "
                                "Streamable HTTP is at /mcp"};
constexpr Methods kOldPost = {"POST, OPTIONS", "Allow: POST, OPTIONS\r\n", "This URL takes POST and OPTIONS"};

constexpr const char* kNoJson = "The Content-Type must be application/json";

bool has_json(const net::Request& request) {
  std::string_view type = request.fields().find("Content-Type").value_or("");
  type = type.substr(0, type.find_first_of("; \t"));
  return net::same_field_name(type, kJsonType);
}

// If callers are authenticated, a quarter of the sessions is reserved for named ones.
Sessions::Limits session_limits(const HttpEndpointOptions& options) {
  Sessions::Limits limits = options.sessions;
  if (options.doorkeeper) limits.reserve = limits.sessions / 4;
  return limits;
}

}  // namespace

HttpEndpoint::HttpEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key,
                           HttpEndpointOptions options)
    : service_(service),
      listeners_(listeners),
      options_(std::move(options)),
      own_events_(options_.events == nullptr ? std::make_unique<MemoryEventStore>(options_.kept_events) : nullptr),
      sessions_(clock, listeners, options_.events != nullptr ? *options_.events : *own_events_,
                session_limits(options_), options_.session_ids, options_.session_records),
      opened_ids_(options_.session_ids == nullptr ? nullptr : std::make_unique<OpenedIds>(*options_.session_ids)),
      states_(key, clock) {
  sessions_.set_on_leave([this](Session& session) { service_.leave(session); });
  sessions_.set_on_adopt([this](Session& session, std::string_view state) { service_.restore(session, state); });
}

// One HTTP request. The constructor does all that requires no waiting; `finish` does the rest.
class HttpEndpoint::Visit {
 public:
  Visit(HttpEndpoint& endpoint, net::Exchange& exchange, Transport transport, Via via)
      : endpoint_(endpoint),
        exchange_(exchange),
        transport_(transport),
        via_(via),
        legacy_(endpoint, via),
        answer_(answer()) {}

  // Sends the answer, if there is one. Returns false if `finish` must be called.
  bool try_finish();
  static Task<> finish(std::unique_ptr<Visit> visit);

 private:
  enum class Then : std::uint8_t { modern, legacy, batch, get, remove, read, elsewhere, open_old, post_old, wait };

  std::optional<HttpAnswer> answer();
  std::optional<HttpAnswer> answer_client();
  // Answers a request whose caller is not known yet.
  std::optional<HttpAnswer> answer_stranger();
  std::optional<HttpAnswer> let_in(Admission admission);
  std::optional<HttpAnswer> answer_caller();
  std::optional<HttpAnswer> answer_streamable();
  std::optional<HttpAnswer> answer_post();
  std::optional<HttpAnswer> answer_old_sse();
  std::optional<HttpAnswer> answer_message();
  Task<std::optional<HttpAnswer>> answer_long_message(BackgroundThreads& background);
  Task<std::optional<HttpAnswer>> answer_message_of_any_length();
  // Whether another process must read the message.
  bool is_elsewhere();
  std::optional<HttpAnswer> answer_scanned(const Result<void>& scanned);
  const Methods& methods() const;
  HttpAnswer refuse_method() const {
    return refuse(405, mcp::errors::invalid_request(methods().why_not), methods().allow);
  }
  net::Standing standing() const;
  Task<> go_on();
  HttpAnswer refuse(unsigned status, const Error& error, std::string_view fields = {}) const {
    return HttpAnswer::error(status, message_.id, error, mcp::Era::modern, fields);
  }
  HttpAnswer refuse_withdrawn() const { return endpoint_.refuse_withdrawn(exchange_, message_.id); }
  HttpAnswer refuse(unsigned status, const char* why) const {
    return refuse(status, mcp::errors::invalid_request(why));
  }

  HttpEndpoint& endpoint_;
  net::Exchange& exchange_;
  const Transport transport_;
  const Via via_;
  Caller caller_;
  std::string challenge_;  // a header line
  json::Message message_;
  std::optional<ModernHttp> modern_;
  LegacyHttp legacy_;
  Then then_ = Then::modern;
  std::optional<HttpAnswer> answer_;  // last: its initializer uses all other members
};

std::optional<HttpAnswer> HttpEndpoint::Visit::answer() {
  if (via_ == Via::client) return answer_client();
  return answer_stranger();
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_client() {
  const HttpEndpointOptions& options = endpoint_.options_;
  const net::Request& request = exchange_.request();
  const auto origin = options.hosts.check(request, options.refusals);
  if (!origin) return refuse(403, mcp::errors::invalid_request(origin.error().message()));
  if (*origin) exchange_.add_fields(cors_fields(**origin));
  // Browsers send preflight requests without credentials.
  if (request.method() == "OPTIONS") {
    exchange_.add_fields(options_fields(request, methods().list));
    return HttpAnswer::empty(204);
  }
  return answer_stranger();
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_stranger() {
  if (const HttpEndpointOptions& options = endpoint_.options_; options.doorkeeper) {
    auto admission = options.doorkeeper.look(exchange_.request());
    if (!admission) {
      then_ = Then::wait;
      return std::nullopt;
    }
    return let_in(std::move(*admission));
  }
  return answer_caller();
}

std::optional<HttpAnswer> HttpEndpoint::Visit::let_in(Admission admission) {
  if (!admission) {
    const Refusal& refusal = admission.error();
    if (!refusal.challenge.empty()) net::append_field(challenge_, "WWW-Authenticate", refusal.challenge);
    return refuse(refusal.status, refusal.error, challenge_);
  }
  caller_ = std::move(*admission);
  return answer_caller();
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_caller() {
  const HttpEndpointOptions& options = endpoint_.options_;
  exchange_.set_standing(standing());
  if (options.admit_request && via_ == Via::client) {
    if (const auto admitted = options.admit_request(caller_); !admitted) return refuse(429, admitted.error());
  }
  return transport_ == Transport::old_sse ? answer_old_sse() : answer_streamable();
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_streamable() {
  const HttpEndpointOptions& options = endpoint_.options_;
  const std::string_view method = exchange_.request().method();
  if (method == "POST") return answer_post();
  if (options.eras.legacy && (method == "GET" || method == "DELETE")) {
    then_ = method == "GET" ? Then::get : Then::remove;
    return std::nullopt;
  }
  return refuse_method();
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_old_sse() {
  const net::Request& request = exchange_.request();
  // Clients that try the transport of 2025-03-26 first POST to the path itself, and use GET when that is rejected.
  const bool is_posted_to = OldSse::names_stream(request);
  if (request.method() != (is_posted_to ? "POST" : "GET")) return refuse_method();
  if (is_posted_to && !has_json(request)) return refuse(415, kNoJson);
  then_ = is_posted_to ? Then::post_old : Then::open_old;
  return std::nullopt;
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_post() {
  const net::Request& request = exchange_.request();
  if (!has_json(request)) return refuse(415, kNoJson);
  if (!accepts_both(request)) {
    return refuse(406, "Accept must list application/json and text/event-stream");
  }
  if (exchange_.has_body()) return is_elsewhere() ? std::nullopt : answer_message();
  then_ = Then::read;
  return std::nullopt;
}

const Methods& HttpEndpoint::Visit::methods() const {
  if (transport_ == Transport::old_sse) return OldSse::names_stream(exchange_.request()) ? kOldPost : kOldStream;
  return endpoint_.options_.eras.legacy ? kAnyEra : kModernOnly;
}

// Without a doorkeeper there are no known callers whose memory must be protected from others.
net::Standing HttpEndpoint::Visit::standing() const {
  const bool is_stranger = endpoint_.options_.doorkeeper && caller_.principal.empty();
  return is_stranger ? net::Standing::stranger : net::Standing::known;
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_message() {
  return answer_scanned(json::scan_into(message_, exchange_.request().body(), endpoint_.options_.messages));
}

Task<std::optional<HttpAnswer>> HttpEndpoint::Visit::answer_long_message(BackgroundThreads& background) {
  auto message = co_await background.run([held = exchange_.hold_body(), body = exchange_.request().body(),
                                          limits = endpoint_.options_.messages] { return json::scan(body, limits); });
  if (!caller_.holds()) co_return refuse_withdrawn();
  if (!message) co_return answer_scanned(std::unexpected(std::move(message.error())));
  message_ = std::move(*message);
  co_return answer_scanned({});
}

// A background thread scans a long message.
Task<std::optional<HttpAnswer>> HttpEndpoint::Visit::answer_message_of_any_length() {
  BackgroundThreads* const background = endpoint_.options_.background;
  if (background == nullptr || exchange_.request().body().size() <= kLongMessage) co_return answer_message();
  co_return co_await answer_long_message(*background);
}

bool HttpEndpoint::Visit::is_elsewhere() {
  if (!endpoint_.options_.eras.legacy || !legacy_.is_elsewhere(exchange_.request(), caller_)) return false;
  then_ = Then::elsewhere;
  return true;
}

std::optional<HttpAnswer> HttpEndpoint::Visit::answer_scanned(const Result<void>& scanned) {
  const HttpEndpointOptions& options = endpoint_.options_;
  const net::Request& request = exchange_.request();
  const auto version = request.fields().find(mcp::header::kProtocolVersion);
  if (!scanned) return refuse(mcp::http_status(scanned.error(), mcp::Era::modern), scanned.error());
  if (message_.kind == json::MessageKind::invalid) {
    const bool array = request.body().find_first_not_of(" \t\r\n") == request.body().find('[');
    if (array && options.eras.legacy && !modern_version(version)) {
      then_ = Then::batch;
      return std::nullopt;
    }
    return refuse(400, mcp::errors::invalid_request("Not a JSON-RPC message: " + message_.fault));
  }

  if (mcp::modern::claims(message_, version)) {
    if (!options.eras.modern) return refuse(400, "This server speaks MCP with a session: initialize first");
    modern_.emplace(endpoint_, exchange_, message_, caller_, via_);
    return modern_->answer();
  }
  if (options.eras.legacy) {
    then_ = Then::legacy;
    return std::nullopt;
  }
  // This message is a legacy client's only way to learn which revision to speak.
  return refuse(400, version ? mcp::errors::unsupported_version(*version, options.eras)
                             : mcp::errors::header_mismatch(
                                   "MCP-Protocol-Version is missing; this server speaks 2026-07-28 only"));
}

Task<> HttpEndpoint::Visit::go_on() {
  switch (then_) {
    case Then::modern: return modern_->go_on();
    case Then::legacy: return legacy_.post(exchange_, message_, caller_);
    case Then::batch: return legacy_.batch(exchange_, caller_);
    case Then::get: return legacy_.get(exchange_, caller_);
    case Then::open_old: return endpoint_.old_sse_.open(exchange_, caller_);
    case Then::post_old: return endpoint_.old_sse_.post(exchange_, caller_, via_);
    case Then::remove:
    case Then::read:
    case Then::elsewhere:
    case Then::wait: break;
  }
  return legacy_.remove(exchange_, caller_);
}

bool HttpEndpoint::Visit::try_finish() {
  if (!answer_) return false;
  const HttpAnswer::Parts parts = answer_->parts();
  return exchange_.try_reply(answer_->head(), {parts.data(), parts.size()});
}

Task<> HttpEndpoint::Visit::finish(std::unique_ptr<Visit> visit) {
  if (visit->then_ == Then::wait) {
    auto admission = co_await visit->endpoint_.options_.doorkeeper.wait(visit->exchange_.request());
    visit->then_ = Then::modern;
    visit->answer_ = visit->let_in(std::move(admission));
    if (visit->try_finish()) co_return;
  }
  if (visit->then_ == Then::read) {
    if (!co_await visit->exchange_.read_body(visit->standing())) co_return;
    visit->then_ = Then::modern;
    // Reading may take long, so the grant may have been withdrawn meanwhile.
    if (!visit->caller_.holds()) {
      visit->answer_ = visit->refuse_withdrawn();
    } else if (!visit->is_elsewhere()) {
      visit->answer_ = co_await visit->answer_message_of_any_length();
    }
    if (visit->try_finish()) co_return;
  }
  if (visit->then_ == Then::elsewhere) {
    co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
    if (co_await visit->legacy_.pass_on(visit->exchange_)) co_return;
    visit->then_ = Then::modern;
    if (!visit->caller_.holds()) {
      visit->answer_ = visit->refuse_withdrawn();
    } else {
      visit->answer_ = co_await visit->answer_message_of_any_length();
    }
    if (visit->try_finish()) co_return;
  }
  if (visit->then_ == Then::post_old && !co_await visit->exchange_.read_body(visit->standing())) co_return;
  if (visit->answer_) {
    co_await visit->exchange_.finish_reply();
    co_return;
  }
  // From here on, everything ends by its own rules: a closed connection, a cancelled request, the end of streams.
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
  if (visit->then_ == Then::modern && visit->modern_->listens()) {
    const auto stream = co_await visit->modern_->open_stream();
    visit.reset();  // many streams stay open for long, and none needs the visit
    if (stream) co_await stream->run();
    co_return;
  }
  co_await visit->go_on();
}

Task<> HttpEndpoint::handle(net::Exchange& exchange) {
  return handle(exchange, Transport::streamable_http, Via::client);
}

Task<> HttpEndpoint::handle_old_sse(net::Exchange& exchange) {
  return handle(exchange, Transport::old_sse, Via::client);
}

Task<> HttpEndpoint::handle_for_peer(net::Exchange& exchange) {
  return handle(exchange, Transport::streamable_http, Via::peer);
}

Task<> HttpEndpoint::handle_old_sse_for_peer(net::Exchange& exchange) {
  return handle(exchange, Transport::old_sse, Via::peer);
}

Task<> HttpEndpoint::handle(net::Exchange& exchange, Transport transport, Via via) {
  auto visit = std::make_unique<Visit>(*this, exchange, transport, via);
  if (visit->try_finish()) return {};
  return Visit::finish(std::move(visit));
}

Result<std::shared_ptr<void>> HttpEndpoint::admit_stream(const Caller& caller) const {
  if (!options_.admit_stream) return nullptr;
  return options_.admit_stream(caller);
}

void HttpEndpoint::challenge(net::Exchange& exchange, const Error& error) const {
  const std::string value =
      options_.challenge ? options_.challenge(exchange.request(), error) : bearer_challenge(error);
  exchange.add_fields(fmt::format("WWW-Authenticate: {}\r\n", value));
}

HttpAnswer HttpEndpoint::refuse_withdrawn(net::Exchange& exchange, std::string_view id) const {
  const Error error = errors::unauthenticated("The bearer token is unknown");
  challenge(exchange, error);
  return HttpAnswer::error(401, id, error, mcp::Era::modern);
}

void HttpEndpoint::end_listening() {
  ends_listening_ = true;
  listeners_.end_all();
}

void HttpEndpoint::end_streams() {
  end_listening();
  sessions_.close_all();
}

}  // namespace proteus::server
