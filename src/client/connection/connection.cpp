#include "client/connection/connection.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/memory/recycled.hpp"
#include "client/connection/pending_request.hpp"
#include "client/connection/send_text.hpp"
#include "client/message/era.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/notifications.hpp"

namespace proteus::client {
namespace {

// Returns whether a modern server's result asks for input. An absent `resultType` means a complete result.
Result<bool> asks_for_input(const Answer& answer) {
  const std::string_view raw = answer.member("resultType");
  if (raw.empty()) return false;
  const auto type = json::decode_string(raw);
  if (type && *type == "complete") return false;
  if (type && *type == "input_required") return true;
  return std::unexpected(
      errors::protocol(fmt::format("the server answered with an unknown type of result: {}", log::printable(raw, 64))));
}

bool may_ask(mcp::Method method) {
  const auto* info = mcp::find_method(mcp::Era::modern, mcp::Sender::client, method);
  return info != nullptr && info->may_ask;
}

// Returns the error of a refused request for a log level. Statuses 500 and 501 say that the server cannot do this, and
// not, like the others from 429 on, that it cannot serve anybody now.
Error log_level_error(const Reply& reply) {
  Error error = reply_error(reply);
  if (reply.status != 500 && reply.status != 501) return error;
  return Error(ErrorKind::remote, error.message()).with_rpc_code(error.rpc_code()).with_data(error.data());
}

}  // namespace

Connection::Connection(const Executor& executor, MakerFactory make, Options options)
    : executor_(executor),
      options_(std::move(options)),
      maker_(make(options_, *this)),
      capabilities_(mcp::write_client_capabilities(options_.handlers.capabilities())),
      modern_meta_(modern_meta(options_.client_info)),
      tasks_(executor),
      link_(executor, *maker_, options_, last_id_),
      questions_(executor, options_, requests_, tasks_),
      listener_(*this),
      left_(executor),
      greeting_ended_(executor) {
  last_id_ = static_cast<RequestId>(first_request_of(options_.epoch));
  questions_.set_until_read([this] { return ping_server(); });
}

Connection::~Connection() = default;

Task<Result<std::shared_ptr<const ServerFacts>>> Connection::open(std::shared_ptr<Authorizer> authorizer) {
  const Visit visit(*this);
  auto negotiated = co_await link_.establish(std::move(authorizer));
  if (!negotiated) co_return std::unexpected(std::move(negotiated.error()));
  note(*negotiated);
  keep_stream(*negotiated);
  co_return facts_;
}

Task<> Connection::close() {
  listener_.stop();
  requests_.expire();
  for (Deadline* const deadline : gathering_)
    deadline->expire();
  co_await link_.close();
  tasks_.cancel();
  // Visitors wait for tasks, and may start new ones as they leave.
  while (visits_ > 0 || tasks_.size() > 0) {
    co_await tasks_.join();
    if (visits_ > 0) co_await left_.wait();
  }
}

Task<bool> Connection::rest() {
  if (!is_idle()) co_return false;
  const Visit visit(*this);
  listener_.stop();
  co_await link_.rest();
  co_return true;
}

Task<Result<>> Connection::listen(mcp::SubscriptionFilter wanted) {
  const Visit visit(*this);
  co_return co_await listener_.listen(std::move(wanted));
}

void Connection::note(const Negotiated& negotiated) {
  if (negotiated.generation == noted_) return;
  noted_ = negotiated.generation;
  facts_ = negotiated.facts;
  const bool legacy = negotiated.era() == mcp::Era::legacy;
  if (legacy) questions_.set_roots_due(true);
  listener_.move();
  if (options_.on_agreed) options_.on_agreed(*facts_);
  // Telling the level may itself have cost the session that precedes this one.
  if (legacy && wanted_log_level_ && restores_log_level_ && setting_log_level_ == 0)
    tasks_.spawn("setting the log level", restore_log_level(*wanted_log_level_));
}

void Connection::update_facts(const Answer& discovered) {
  const auto& negotiated = link_.current();
  if (!negotiated || negotiated->era() != mcp::Era::modern) return;
  auto said = read_discover(discovered);
  if (!said || same(*said, *negotiated->facts)) return;
  if (std::ranges::find(said->versions, mcp::to_string(mcp::kModern)) == said->versions.end()) return;
  link_.learn(std::move(*said));
  facts_ = negotiated->facts;
}

// Opens the stream on which a legacy server may ask while a request runs. Returns true if it is not open yet.
bool Connection::keep_stream(const Negotiated& negotiated) {
  return negotiated.era() == mcp::Era::legacy && options_.handlers.any() && negotiated.transport->has_streams() &&
         listener_.keep_stream();
}

std::optional<HttpSession> Connection::session() const {
  const auto& negotiated = link_.current();
  if (!negotiated || negotiated->transport->session().empty()) return std::nullopt;
  return HttpSession{std::string(negotiated->transport->session()), negotiated->facts->version};
}

Task<Result<Answer>> Connection::request(mcp::Method method, Params params, RequestOptions options) {
  return request(method, std::move(params), std::move(options), Before::nothing);
}

Task<Result<Answer>> Connection::request(mcp::Method method, Params params, RequestOptions options, Before before) {
  const Visit visit(*this);
  if (before == Before::nothing) {
    if (auto pending = post(method, params, options, Stay::anywhere)) {
      co_return co_await PendingRequest::finish(std::move(pending), std::move(params));
    }
  }
  // What was found out after the request was first sent is not doubted.
  const Negotiated* const standing = before == Before::nothing ? link_.standing() : nullptr;
  const std::uint64_t found_before = standing != nullptr ? standing->generation : 0;
  for (;; before = Before::failed) {
    if (link_.standing() == nullptr) questions_.set_roots_due(true);
    auto negotiated = co_await link_.establish(options.authorizer);
    if (!negotiated) co_return std::unexpected(std::move(negotiated.error()));
    note(*negotiated);
    if (keep_stream(*negotiated) && may_ask(method)) co_await listener_.wait_for_stream();
    while (awaits_roots(*negotiated, method)) {
      auto known = co_await await_roots(*negotiated, options);
      if (!known) co_return std::unexpected(std::move(known.error()));
      // The session may have been replaced.
      negotiated = co_await link_.establish(options.authorizer);
      if (!negotiated) co_return std::unexpected(std::move(negotiated.error()));
      note(*negotiated);
    }
    // If the era was found out before this request, the server may have changed it.
    if (options.era && negotiated->era() != *options.era && negotiated->generation == found_before &&
        link_.era_doubtful(found_before)) {
      negotiated = co_await link_.establish(options.authorizer);
      if (!negotiated) co_return std::unexpected(std::move(negotiated.error()));
      note(*negotiated);
    }
    if (options.era && negotiated->era() != *options.era)
      co_return std::unexpected(errors::unreachable("the server speaks the other era of the protocol now"));
    if (may_act(method)) questions_.set_roots_due(false);
    Outcome outcome = co_await attempt(*negotiated, method, params, options, before);
    if (!outcome.again || before != Before::nothing) co_return std::move(outcome.answer);
  }
}

Task<Connection::Outcome> Connection::attempt(const Negotiated& negotiated, mcp::Method method, const Params& params,
                                              const RequestOptions& options, Before before) {
  if (mcp::find_method(negotiated.era(), mcp::Sender::client, method) == nullptr) {
    return refuse(method, negotiated.era());
  }
  return negotiated.era() == mcp::Era::modern ? attempt_rounds(negotiated, method, params, options, before)
                                              : exchange(negotiated, method, params, options, {}, nullptr);
}

Task<Connection::Outcome> Connection::refuse(mcp::Method method, mcp::Era era) {
  co_return Outcome{std::unexpected(errors::unsupported(fmt::format(
      "{} does not exist in the {} era, which this server is of", mcp::to_string(method), mcp::to_string(era))))};
}

Task<Connection::Outcome> Connection::attempt_rounds(const Negotiated& negotiated, mcp::Method method,
                                                     const Params& params, const RequestOptions& options,
                                                     Before before) {
  const std::string_view name = mcp::to_string(method);
  HeaderParameters own;
  bool relisted = before == Before::misfitted;
  if (relisted) (void)co_await learn_again(params.name, options, own);
  std::string inputs;
  for (int rounds = 0;;) {
    Outcome outcome = co_await exchange(negotiated, method, params, options, inputs, &own);
    if (outcome.again) co_return outcome;
    if (!outcome.answer) {
      if (!outcome.misfits || std::exchange(relisted, true)) co_return outcome;
      // The tool's annotations have changed since it was listed, or it was never listed.
      if (!co_await learn_again(params.name, options, own)) co_return outcome;
      continue;
    }
    if (options.inputs == Inputs::hand_back) co_return outcome;
    const auto asks = asks_for_input(*outcome.answer);
    if (!asks) co_return Outcome{std::unexpected(asks.error())};
    if (!*asks) co_return outcome;
    if (!may_ask(method)) {
      co_return Outcome{std::unexpected(errors::protocol(fmt::format("the server asks for input for {}", name)))};
    }
    if (++rounds > options_.limits.input_rounds) {
      co_return Outcome{std::unexpected(errors::exhausted(
          fmt::format("the server asked for input {} times for one request", options_.limits.input_rounds)))};
    }
    auto gathered = co_await gather_inputs(*outcome.answer, options);
    if (!gathered) co_return Outcome{std::unexpected(std::move(gathered.error()))};
    inputs = std::move(*gathered);
  }
}

// A definition that was listed with a caller's own credentials is kept for this caller's request only.
Task<bool> Connection::learn_again(std::string_view tool, const RequestOptions& options, HeaderParameters& own) {
  RequestOptions as_caller;
  as_caller.authorizer = options.authorizer;
  const auto listed = co_await list(mcp::Method::tools_list, std::move(as_caller));
  if (!listed) co_return false;
  const auto found = std::ranges::find(listed->entries, tool, &Entry::name);
  if (options.authorizer && found != listed->entries.end()) (void)own.learn(tool, found->definition);
  co_return true;
}

RequestFrame Connection::frame(const Negotiated& negotiated, mcp::Method method, const RequestOptions& options) {
  RequestFrame frame;
  frame.era = negotiated.era();
  frame.id = options_.epoch != 0 && frame.era == mcp::Era::modern ? ++last_modern_id_ : ++last_id_;
  frame.method = method;
  frame.modern_meta = modern_meta_;
  frame.client_capabilities = options.capabilities.empty() ? capabilities_ : options.capabilities;
  frame.progress = options.wants_progress();
  frame.log_level = options.log_level ? options.log_level : wanted_log_level_;
  frame.more_meta = options.meta;
  return frame;
}

Task<Connection::Outcome> Connection::exchange(const Negotiated& negotiated, mcp::Method method, const Params& params,
                                               const RequestOptions& options, std::string_view more_members,
                                               const HeaderParameters* own) {
  if (requests_.size() >= options_.limits.requests) {
    co_return Outcome{std::unexpected(errors::exhausted("too many requests to this server are under way"))};
  }
  RequestFrame request = frame(negotiated, method, options);
  request.more_members = more_members;
  std::string own_capabilities;
  // In the legacy era capabilities are declared once, when the session begins.
  if (options.has_handlers() && options.capabilities.empty() && negotiated.era() == mcp::Era::modern) {
    own_capabilities = mcp::write_client_capabilities(options.own_handlers()->capabilities());
    request.client_capabilities = own_capabilities;
  }
  Composed composed(request, params);
  if (auto added = add_headers(composed, negotiated, params, options, own); !added)
    co_return Outcome{.answer = std::unexpected(std::move(added.error())), .misfits = true};

  const auto timeout = time_of(method, options);
  Deadline deadline(executor_, timeout, timeout * options_.progress_extension);
  const InFlightTable::Entry entry(requests_, {request.id, deadline, options});
  co_return co_await await_reply(negotiated, entry.request(), method,
                                 negotiated.transport->exchange(composed.outgoing()));
}

std::chrono::milliseconds Connection::time_of(mcp::Method method, const RequestOptions& options) const {
  // The answer to `tasks/result` arrives when the task has ended.
  const bool is_call = method == mcp::Method::tools_call || method == mcp::Method::tasks_result;
  return options.timeout.value_or(is_call ? options_.call_timeout : options_.timeout);
}

Task<Connection::Outcome> Connection::await_reply(const Negotiated& negotiated, const InFlight& request,
                                                  mcp::Method method, Task<Result<Reply>> replying) {
  Result<Reply> reply;
  try {
    reply = co_await before(*request.deadline, std::move(replying), mcp::to_string(method));
  } catch (...) {
    cancel_at_server(negotiated, request.id, "the caller no longer waits");
    throw;
  }
  if (!reply) {
    if (reply.error().kind() == ErrorKind::timeout) cancel_at_server(negotiated, request.id, "timed out");
    co_return Outcome{std::unexpected(std::move(reply.error()))};
  }
  co_return judge(negotiated, method, std::move(*reply));
}

std::shared_ptr<PendingRequest> Connection::post(mcp::Method method, const Params& params, RequestOptions& options,
                                                 Stay stay) {
  const Negotiated* const negotiated = link_.standing();
  if (negotiated == nullptr || !negotiated->transport->has_streams() || requests_.size() >= options_.limits.requests) {
    return nullptr;
  }
  const bool modern = negotiated->era() == mcp::Era::modern;
  if (mcp::find_method(negotiated->era(), mcp::Sender::client, method) == nullptr) return nullptr;
  if (options.era && negotiated->era() != *options.era) return nullptr;
  note(*negotiated);
  if (modern ? options.inputs != Inputs::hand_back || options.has_handlers()
             : (keep_stream(*negotiated) && may_ask(method)) || awaits_roots(*negotiated, method)) {
    return nullptr;
  }
  const RequestFrame request = frame(*negotiated, method, options);
  Composed composed(request, params);
  if (!add_headers(composed, *negotiated, params, options, nullptr)) return nullptr;
  auto reply = negotiated->transport->try_exchange(composed.outgoing(), time_of(method, options), stay);
  if (!reply) return nullptr;
  if (may_act(method)) questions_.set_roots_due(false);
  return make_recycled<PendingRequest>(PendingRequest::Key{}, *this, *negotiated, std::move(reply), request.id, method,
                                       std::move(options));
}

Connection::Outcome Connection::judge(const Negotiated& negotiated, mcp::Method method, Reply reply) {
  const bool refused = reply.status > 299;
  if (!refused && reply.message && reply.message->message().kind == json::MessageKind::result)
    return {std::move(*reply.message)};
  if (negotiated.era() == mcp::Era::legacy && negotiated.transport->has_session() && says_session_unknown(reply)) {
    forget_session(negotiated);
    return {.answer = std::unexpected(errors::not_found("the server no longer knows the session")), .again = true};
  }
  // Another request that met the other era at the same time may have reported it already.
  const bool again = !options_.era && contradicts(reply, negotiated.era());
  if (again) (void)link_.era_doubtful(negotiated.generation);
  const bool for_log_level = method == mcp::Method::set_log_level;
  Outcome outcome{std::unexpected(for_log_level ? log_level_error(reply) : reply_error(reply)), again};
  outcome.misfits = negotiated.era() == mcp::Era::modern && method == mcp::Method::tools_call &&
                    outcome.answer.error().rpc_code() == mcp::code::kHeaderMismatch;
  if (reply.sent && (reply.status == 401 || reply.status == 403)) outcome.refusal = std::move(reply);
  return outcome;
}

void Connection::forget_session(const Negotiated& negotiated) {
  if (!link_.session_lost(negotiated.generation)) return;
  options_.log->note(log::Level::info, "forgot the session");
  if (options_.on_session_lost) options_.on_session_lost();
}

Result<> Connection::add_headers(Composed& composed, const Negotiated& negotiated, const Params& params,
                                 const RequestOptions& options, const HeaderParameters* own) const {
  if (!negotiated.transport->has_headers()) return {};
  composed.set_authorizer(options.authorizer.get(), options.refused_before);
  const bool modern = negotiated.era() == mcp::Era::modern;
  if (modern) composed.add_standard_headers(params.name);
  const bool calls = modern && composed.outgoing().method == mcp::Method::tools_call;
  const HeaderParameters& known = own != nullptr && own->has(params.name) ? *own : mirrors_;
  if (!calls || !known.has(params.name)) [[likely]] {
    composed.add_headers(options.headers);
    return {};
  }
  const std::string members = "{" + params.members.str() + "}";
  std::vector<std::unique_ptr<std::string>> storage;
  const auto read = json::members_of(members, storage);
  if (!read) return std::unexpected(read.error());
  auto headers = known.headers(params.name, read->value("arguments"), options.headers);
  if (!headers) return std::unexpected(std::move(headers.error()));
  composed.add_headers(std::move(*headers));
  return {};
}

void Connection::cancel_at_server(const Negotiated& negotiated, RequestId id, std::string_view reason) {
  // A modern server notices that the request's own stream is closed.
  if (negotiated.era() == mcp::Era::modern && negotiated.transport->has_streams()) return;
  if (link_.is_closed() || !negotiated.transport->usable()) return;
  tasks_.spawn("cancelling a request", send_cancelled(negotiated.transport, id, std::string(reason)));
}

Task<> Connection::send_cancelled(std::shared_ptr<Transport> transport, RequestId id, std::string reason) {
  const auto sent = co_await send_text(std::move(transport), mcp::cancelled_notification(fmt::format("{}", id), reason),
                                       options_.timeout);
  if (!sent) options_.log->debug("a cancellation did not reach the server: {}", sent.error().message());
}

}  // namespace proteus::client
