// The part of LegacyHttp for sessions that are at another process, and for streams that were.
#include <array>

#include <boost/asio/this_coro.hpp>

#include "base/tasks/waiting.hpp"
#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "mcp/over_limit.hpp"
#include "server/core/left_stream.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/legacy_http.hpp"

namespace proteus::server {
namespace {

using namespace std::chrono_literals;

// While a session is handed over, no process has it for a moment. Each attempt asks Redis, the store and a process, so
// there are only a few.
constexpr std::array<std::chrono::milliseconds, 7> kPauses{0ms, 20ms, 40ms, 80ms, 160ms, 320ms, 400ms};

}  // namespace

bool LegacyHttp::is_elsewhere(const net::Request& request, const Caller& caller) {
  const HttpEndpointOptions& options = endpoint_.options_;
  if (options.others == nullptr || options.session_ids == nullptr || via_ == Via::peer) return false;
  const auto id = request.fields().find(mcp::header::kSessionId);
  if (!id) return false;
  found_ = look_up(request, id, caller);
  return found_->facts && found_->facts->maker != options.session_ids->self();
}

Task<bool> LegacyHttp::pass_on(net::Exchange& exchange) {
  const auto relayed = co_await endpoint_.options_.others->relay(exchange, found_->facts->maker);
  if (relayed) {
    said_ = *relayed;
    co_return *relayed == OtherProcesses::Relayed::answered;
  }
  // The message is scanned only for its id.
  json::Message message;
  const auto scanned = json::scan_into(message, exchange.request().body(), endpoint_.options_.messages);
  co_await endpoint_.refuse_relayed(exchange, relayed.error(), scanned ? message.id : std::string_view(),
                                    mcp::Era::legacy);
  co_return true;
}

bool LegacyHttp::is_sure(const SessionLookup& found) const {
  const OtherProcesses* const others = endpoint_.options_.others;
  return found.session && (others == nullptr || !others->doubt_us());
}

Task<std::shared_ptr<Session>> LegacyHttp::look_elsewhere(net::Exchange& exchange, std::string_view id,
                                                          SessionLookup lookup, const Caller& caller) {
  using Relayed = OtherProcesses::Relayed;
  const auto refuse = [&](unsigned status, const Error& error, std::string_view fields = {}) -> Task<> {
    return reply(exchange, HttpAnswer::error(status, id, error, mcp::Era::legacy, fields));
  };
  const auto unknown = [&] { return mcp::errors::invalid_request(std::string(lookup.why)); };
  const auto moving = [] {
    return errors::unavailable("the process of this gateway that has this session is not known; try again");
  };
  if (lookup.session) {
    auto is_here = co_await endpoint_.sessions_.make_sure(lookup.session);
    // Whatever makes others doubt this process may also have cost its connection to Redis. If the others have none
    // either, none of them takes a session over.
    for (const auto pause : kPauses) {
      if (is_here || endpoint_.sessions_.is_unsure()) break;
      co_await sleep_for(pause);
      is_here = co_await endpoint_.sessions_.make_sure(lookup.session);
    }
    endpoint_.sessions_.set_unsure(!is_here);
    if (!is_here || *is_here) co_return std::move(lookup.session);
    const net::Request& request = exchange.request();
    lookup = look_up(request, request.fields().find(mcp::header::kSessionId), caller);
    if (lookup.session) co_return std::move(lookup.session);
  }
  const bool has_records = endpoint_.options_.session_records != nullptr;
  if (lookup.facts && via_ == Via::peer && has_records) {
    // The process that forwarded the request looks further.
    co_await exchange.reply({.status = OtherProcesses::kNotThere, .content_type = "text/plain"},
                            "This session is not here.\n");
    co_return nullptr;
  }
  if (!lookup.facts || via_ == Via::peer) {
    co_await refuse(lookup.status, unknown());
    co_return nullptr;
  }

  Relayed relayed = said_.value_or(Relayed::gone);
  const ProcessKey maker = lookup.facts->maker;
  if (!said_ && maker != endpoint_.options_.session_ids->self())
    relayed = co_await endpoint_.relay(exchange, maker, id, mcp::Era::legacy);
  if (relayed == Relayed::answered) co_return nullptr;
  if (!has_records) {
    relayed == Relayed::gone ? co_await refuse(lookup.status, unknown()) : co_await refuse(503, moving(), kTryAgain);
    co_return nullptr;
  }
  const std::string session(*exchange.request().fields().find(mcp::header::kSessionId));
  for (const auto pause : kPauses) {
    if (pause.count() > 0) co_await sleep_for(pause);
    auto found = co_await endpoint_.find_or_take_over(session, *lookup.facts, caller);
    const bool is_known = found && (found->session || !found->elsewhere.value().empty());
    if (!is_known && co_await ask_everybody(exchange, id, maker)) co_return nullptr;
    if (!found) {
      const Error& error = found.error();
      if (error.kind() == ErrorKind::unauthenticated) {
        endpoint_.challenge(exchange, error);
        co_await refuse(401, error);
      } else if (mcp::retry_after(error).count() > 0) {
        co_await refuse(429, error);  // the principal has too many sessions, and the error says when to retry
      } else {
        co_await refuse(503, error, kTryAgain);
      }
      co_return nullptr;
    }
    if (found->session) co_return std::move(found->session);
    if (found->elsewhere.value().empty()) {
      co_await refuse(lookup.status, unknown());
      co_return nullptr;
    }
    relayed = co_await endpoint_.relay(exchange, found->elsewhere, id, mcp::Era::legacy);
    if (relayed == Relayed::answered) co_return nullptr;
    // That process has left, has handed the session over, or is about to take it.
  }
  co_await refuse(503, moving(), kTryAgain);
  co_return nullptr;
}

// Another process may have the session even if Redis is away or was emptied.
Task<bool> LegacyHttp::ask_everybody(net::Exchange& exchange, std::string_view id, ProcessKey except) const {
  for (const ProcessKey& other : endpoint_.options_.others->living()) {
    if (other == except) continue;
    const auto relayed = co_await endpoint_.relay(exchange, other, id, mcp::Era::legacy);
    if (relayed == OtherProcesses::Relayed::answered) co_return true;
  }
  co_return false;
}

Task<> LegacyHttp::resume_left(net::Exchange& exchange, std::shared_ptr<Session> session, EventId last,
                               const Caller& caller) {
  const auto refuse = [&exchange](unsigned status, const Error& error, std::string_view fields = {}) -> Task<> {
    return reply(exchange, HttpAnswer::error(status, {}, error, mcp::Era::legacy, fields));
  };
  const auto left = co_await session->read_left(last.stream);
  if (!left) co_return co_await refuse(503, left.error(), kTryAgain);
  const auto rest = *left ? rest_of(**left, last.number) : std::nullopt;
  if (!rest) co_return co_await refuse(400, no_longer_kept());
  auto place = endpoint_.admit_stream(caller);
  if (!place) co_return co_await refuse(429, place.error());

  auto outbox = std::make_shared<Outbox>(co_await boost::asio::this_coro::executor);
  outbox->push(std::string(kComment));
  std::uint64_t number = last.number;
  for (const auto& event : *rest) {
    number = event.number;
    outbox->push(write_event({last.stream, number}, event.message));
  }
  const bool standalone = Session::is_standalone(last.stream);
  if (standalone) {
    // Continues with everything that was announced since the takeover. A connection that broke may have carried that
    // already, but a client that had received any of it would name a newer event.
    if (co_await session->standalone()->attach(outbox, 0, *place) == ReplayStream::Attach::gone)
      (void)co_await session->standalone()->attach(outbox, std::nullopt, *place);
  } else {
    for (const auto& request : unanswered(**left))
      outbox->push(write_event({last.stream, ++number}, answer_of_ended_process(request)));
    outbox->close();
  }
  co_await read_stream(exchange, *session, caller, standalone, std::move(outbox));
}

}  // namespace proteus::server
