#include "gateway/operate/pin_decisions.hpp"

#include <algorithm>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

Error unknown_proposal(const std::string& id) {
  return errors::not_found(fmt::format("there is no proposal {}", log::printable(id, 100)));
}

}  // namespace

std::vector<UpstreamProposal> PinDecisions::proposals() const {
  std::vector<UpstreamProposal> all;
  const auto table = gateway_.upstreams();
  for (const ServedUpstream& served : table->order) {
    if (!served->pins()) continue;
    for (auto& posted : served->pins()->posted())
      all.push_back({served->settings().name, served->settings().display_name, std::move(posted)});
  }
  return all;
}

std::optional<UpstreamProposal> PinDecisions::find(std::string_view id) const {
  const auto table = gateway_.upstreams();
  for (const ServedUpstream& served : table->order) {
    if (auto posted = served->pins() ? served->pins()->find(id) : std::nullopt)
      return UpstreamProposal{served->settings().name, served->settings().display_name, std::move(*posted)};
  }
  return std::nullopt;
}

Task<Result<UpstreamProposal>> PinDecisions::decide(std::string id, store::Verdict verdict, std::string by,
                                                    std::string who) {
  const auto table = gateway_.upstreams();
  for (const ServedUpstream& served : table->order) {
    auto posted = served->pins() ? served->pins()->find(id) : std::nullopt;
    if (!posted) continue;
    const catalog::Proposal& proposal = *posted->proposal;
    const std::string& name = served->settings().name;
    const bool ratified = verdict == store::Verdict::ratified;
    Decision decision{.id = id,
                      .board = served->pins(),
                      .record = {.upstream = name,
                                 .kind = proposal.kind,
                                 .name = proposal.name,
                                 .hash = proposal.hash,
                                 .verdict = verdict,
                                 .definition = ratified ? proposal.after : std::string(),
                                 .by = by,
                                 .at = store::to_time(gateway_.clock().wall())},
                      .who = who};
    const auto kept = co_await asio::co_spawn(gateway_.control(), keep(std::move(decision)), asio::use_awaitable);
    if (!kept) co_return std::unexpected(kept.error());
    if (ratified) {
      const auto result = co_await (*kept)->refresh();
      if (result.error) {
        log::warning("upstream {} serves what was ratified when it answers again: {}", served->settings().label(),
                     result.error->message());
      }
    }
    co_return UpstreamProposal{name, served->settings().display_name, std::move(*posted)};
  }
  co_return std::unexpected(unknown_proposal(id));
}

Task<Result<ServedUpstream>> PinDecisions::keep(Decision decision) {
  // A decision that has begun must complete even if its caller is cancelled, because store and pins must agree.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  // While the lock is held, no upstream is replaced. A new one reads the decisions from the store, so it must do that
  // either before this decision is stored or after the pins have taken it.
  const auto held = co_await gateway_.hold_upstreams();
  const store::PinRecord& record = decision.record;
  const auto table = gateway_.upstreams();
  const ServedUpstream* const served = table->find(record.upstream);
  if (served == nullptr || !(*served)->pins()) co_return std::unexpected(unknown_proposal(decision.id));
  const auto& board = (*served)->pins();
  if (board == decision.board && !board->find(decision.id)) co_return std::unexpected(unknown_proposal(decision.id));
  store::Writes writes;
  if (gateway_.is_one_of_several()) {
    const auto decided = co_await store_.pins_of(record.upstream);
    if (!decided) co_return std::unexpected(decided.error());
    std::uint64_t version = 0;
    for (const auto& one : *decided) {
      version = std::max(version, one.stored.version);
      if (one.kind != record.kind || one.name != record.name || one.hash != record.hash || board->has(one)) continue;
      co_return std::unexpected(errors::conflict("somebody else has decided about it meanwhile"));
    }
    writes.emplace_back(store::Expect{{store::RecordKind::pins, record.upstream, {}}, version});
  }
  writes.emplace_back(store::PutPin{record});
  writes.emplace_back(store::AppendAudit{
      {.number = 0,
       .at = record.at,
       .who = std::move(decision.who),
       .what = record.verdict == store::Verdict::ratified ? "pin.ratify" : "pin.reject",
       .detail = fmt::format(R"({{"id":{},"upstream":{},"kind":{},"name":{},"sha256":{},"by":{}}})",
                             json::quote(decision.id), json::quote(record.upstream), json::quote(record.kind),
                             json::quote(record.name), json::quote(record.hash), json::quote(record.by))}});
  if (auto written = co_await store_.write(std::move(writes)); !written) {
    co_return std::unexpected(std::move(written.error()));
  }
  if (auto taken = board->take(record); !taken) co_return std::unexpected(std::move(taken.error()));
  co_return *served;
}

}  // namespace proteus::gateway
