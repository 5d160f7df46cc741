// Sessions that are not here, and streams that were not.
#include <boost/asio/this_coro.hpp>

#include "base/waiting.hpp"
#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "mcp/over_limit.hpp"
#include "server/core/left_stream.hpp"
#include "server/http/http_answer.hpp"
#include "server/http/legacy_http.hpp"

namespace proteus::server {
namespace {

constexpr std::string_view kTryAgain = "Retry-After: 1\r\n";
// A session that one process hands over and another takes is with neither for a moment.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kPause{20};

// A principal that has too many sessions is told when to try again.
unsigned status_of(const Error& error) { return mcp::retry_after(error).count() > 0 ? 429 : 503; }

}  // namespace

Task<std::shared_ptr<Session>> LegacyHttp::look_elsewhere(net::Exchange& exchange, std::string_view id,
                                                          SessionLookup lookup, const Caller& caller) const {
  using Relayed = OtherProcesses::Relayed;
  const auto refuse = [&](unsigned status, const Error& error, std::string_view fields = {}) -> Task<> {
    return reply(exchange, HttpAnswer::error(status, id, error, mcp::Era::legacy, fields));
  };
  const Error unknown = mcp::errors::invalid_request(std::string(lookup.why));
  const Error moving = errors::unavailable("the process of this gateway that has this session is not known; try again");
  const bool has_records = endpoint_.options_.session_records != nullptr;
  if (lookup.facts && via_ == Via::peer && has_records) {
    // Whoever passed it on looks further.
    co_await exchange.reply({.status = OtherProcesses::kNotThere, .content_type = "text/plain"},
                            "This session is not here.\n");
    co_return nullptr;
  }
  if (!lookup.facts || via_ == Via::peer) {
    co_await refuse(lookup.status, unknown);
    co_return nullptr;
  }

  Relayed relayed = Relayed::gone;
  const ProcessKey maker = lookup.facts->maker;
  if (maker != endpoint_.options_.session_ids->self())
    relayed = co_await endpoint_.relay(exchange, maker, id, mcp::Era::legacy);
  if (relayed == Relayed::answered) co_return nullptr;
  if (!has_records) {
    relayed == Relayed::gone ? co_await refuse(lookup.status, unknown) : co_await refuse(503, moving, kTryAgain);
    co_return nullptr;
  }
  const std::string session(*exchange.request().fields().find(mcp::header::kSessionId));
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) co_await sleep_for(kPause);
    auto found = co_await endpoint_.find_or_take_over(session, *lookup.facts, caller);
    if (!found) {
      co_await refuse(status_of(found.error()), found.error(), kTryAgain);
      co_return nullptr;
    }
    if (found->session) co_return std::move(found->session);
    if (found->elsewhere.value().empty()) {
      // Where there was a record it may have been lost, and whoever has the session writes it again only now and then.
      for (const auto& process : endpoint_.options_.others->living()) {
        if (process == maker) continue;
        if (co_await endpoint_.relay(exchange, process, id, mcp::Era::legacy) == Relayed::answered) co_return nullptr;
      }
      co_await refuse(lookup.status, unknown);
      co_return nullptr;
    }
    relayed = co_await endpoint_.relay(exchange, found->elsewhere, id, mcp::Era::legacy);
    if (relayed == Relayed::answered) co_return nullptr;
    // It has left, or has handed the session over, or is about to take it.
  }
  co_await refuse(503, moving, kTryAgain);
  co_return nullptr;
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
    // Goes on with what was announced since.
    (void)co_await session->standalone()->attach(outbox, std::nullopt, *place);
  } else {
    for (const auto& request : unanswered(**left))
      outbox->push(write_event({last.stream, ++number}, answer_of_ended_process(request)));
    outbox->close();
  }
  co_await read_stream(exchange, *session, standalone, std::move(outbox));
}

}  // namespace proteus::server
