// Finds out the era of a program.
#include <algorithm>
#include <utility>

#include "base/log/log.hpp"
#include "client/connection/link.hpp"

namespace proteus::client {

using Kind = ProbeVerdict::Kind;

// A `server/discover` request that runs in a separate coroutine, so that even a late answer counts.
struct Link::Probe {
  Probe(const Executor& executor, std::shared_ptr<Transport> over)
      : transport(std::move(over)), end(Deadline::never(executor)), answered(executor) {}

  bool has(Kind kind) const { return verdict && *verdict && (*verdict)->kind == kind; }

  std::shared_ptr<Transport> transport;
  Deadline end;  // expires when another probe replaces this one
  std::optional<Result<ProbeVerdict>> verdict;
  Bell answered;
  bool overtakes = false;  // a modern answer ends the `initialize` that is under way
};

// 2026-07-28, "stdio", "Backward Compatibility". A program may be silent only because it starts slowly, so silence
// decides nothing (ADR 13). A silent program is asked in both eras, and programs answer in the order of the requests.
Task<Result<>> Link::attempt_program() {
  auto place = co_await place_to_start();
  if (!place) co_return std::unexpected(std::move(place.error()));
  if (!transport_) {
    if (auto started = co_await start(maker_.program()); !started) co_return started;
  }
  if (known_era_ == mcp::Era::legacy) {
    auto reply = co_await initialize();
    if (!reply) co_return std::unexpected(std::move(reply.error()));
    co_return co_await adopt_legacy(*reply);
  }
  const auto probe = begin_probe();
  const auto heard =
      co_await await_probe(probe, options_.era ? options_.timeout : std::min(options_.probe_timeout, options_.timeout));
  place->leave();
  if (!heard && heard.error().kind() != ErrorKind::timeout) co_return heard;
  if (probe->has(Kind::modern)) co_return adopt_modern(**probe->verdict);
  if (probe->has(Kind::fault)) co_return std::unexpected((*probe->verdict)->error);
  if (options_.era) {
    if (!probe->verdict) co_return heard;
    if (!*probe->verdict) co_return std::unexpected(probe->verdict->error());
    co_return std::unexpected(errors::unsupported("the program does not answer server/discover"));
  }
  if (!probe->verdict) co_return co_await settle_silence(probe);
  // Some servers exit when they receive an unknown method.
  if (!transport_->usable()) {
    if (auto started = co_await start(maker_.program()); !started) co_return started;
  }
  auto reply = co_await initialize();
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  co_return co_await adopt_legacy(*reply);
}

Task<Result<>> Link::settle_silence(std::shared_ptr<Probe> probe) {
  probe->overtakes = true;
  auto reply = co_await initialize();
  probe->overtakes = false;
  if (closed_) co_return std::unexpected(errors::cancelled("the connection"));
  if (probe->has(Kind::modern)) co_return adopt_modern(**probe->verdict);
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  auto adopted = co_await adopt_legacy(*reply);
  if (adopted || !transport_ || !transport_->usable()) {
    if (adopted && probe->has(Kind::modern)) co_return adopt_modern(**probe->verdict);
    co_return adopted;
  }
  // The program has refused `initialize`, and the answer to the probe may still arrive.
  const auto heard = co_await await_probe(probe, options_.timeout);
  if (heard && probe->has(Kind::modern)) co_return adopt_modern(**probe->verdict);
  co_return adopted;
}

Task<Result<StartPlaces::Place>> Link::place_to_start() {
  // A program that has run before, or is known from elsewhere, is not judged by how soon it answers.
  if (!options_.start_places || transport_ || generation_ > 0 || options_.known.facts) co_return StartPlaces::Place();
  Deadline never = Deadline::never(executor_);
  const Noted noted(handshake_, never);
  const auto enter = [](std::shared_ptr<StartPlaces> places) -> Task<Result<StartPlaces::Place>> {
    co_return co_await places->enter();
  };
  co_return co_await before(never, enter(options_.start_places), "waiting for other programs to start");
}

std::shared_ptr<Link::Probe> Link::begin_probe() {
  if (probe_) probe_->end.expire();
  probe_ = std::make_shared<Probe>(executor_, transport_);
  probing_.spawn("finding out the era", run_probe(probe_));
  return probe_;
}

Task<> Link::run_probe(std::shared_ptr<Probe> probe) {
  probe->verdict = co_await ask_era([this, probe] {
    return before(probe->end, exchange(probe->transport, mcp::Method::discover, {}, mcp::Era::modern),
                  mcp::to_string(mcp::Method::discover));
  });
  probe->answered.ring();
  if (closed_ || probe->transport != transport_ || !probe->has(Kind::modern)) co_return;
  if (probe->overtakes && handshake_ != nullptr) co_return handshake_->expire();
  if (is_busy() || !negotiated_ || negotiated_->era() == mcp::Era::modern) co_return;
  options_.log->note(log::Level::info, "speaks the modern era: its answer came late");
  const auto adopted = adopt_modern(**probe->verdict);
  if (adopted && options_.on_era_corrected) options_.on_era_corrected();
}

Task<Result<>> Link::await_probe(std::shared_ptr<Probe> probe, std::chrono::milliseconds patience) {
  const auto wait = [](std::shared_ptr<Probe> awaited) -> Task<Result<>> {
    while (!awaited->verdict)
      co_await awaited->answered.wait();
    co_return Result<>{};
  };
  Deadline deadline(executor_, patience, {});
  const Noted noted(handshake_, deadline);
  co_return co_await before(deadline, wait(std::move(probe)), mcp::to_string(mcp::Method::discover));
}

void Link::reconsider() {
  const bool by_silence = negotiated_ && !is_busy() && !closed_ && negotiated_->era() == mcp::Era::legacy &&
                          !options_.era && probe_ && probe_->transport == negotiated_->transport && !probe_->verdict;
  if (by_silence && transport_->usable()) begin_probe();
}

}  // namespace proteus::client
