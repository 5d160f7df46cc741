#include "gateway/pin_decisions.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

std::vector<UpstreamProposal> PinDecisions::proposals() const {
  std::vector<UpstreamProposal> all;
  const auto table = gateway_.upstreams();
  for (const ServedUpstream& served : table->order) {
    if (!served->pins()) continue;
    for (auto& posted : served->pins()->posted())
      all.push_back({served->settings().name, std::move(posted)});
  }
  return all;
}

Task<Result<UpstreamProposal>> PinDecisions::decide(std::string id, store::Verdict verdict, std::string by,
                                                    std::string who) {
  const auto table = gateway_.upstreams();
  for (const ServedUpstream& served : table->order) {
    auto posted = served->pins() ? served->pins()->find(id) : std::nullopt;
    if (!posted) continue;
    const catalog::Proposal& proposal = posted->proposal;
    const bool ratified = verdict == store::Verdict::ratified;
    const auto now = store::to_time(gateway_.clock().wall());
    const store::PinRecord record{.upstream = served->settings().name,
                                  .kind = proposal.kind,
                                  .name = proposal.name,
                                  .hash = proposal.hash,
                                  .verdict = verdict,
                                  .definition = ratified ? proposal.after : std::string(),
                                  .by = by,
                                  .at = now};
    store::Writes writes;
    writes.emplace_back(store::PutPin{record});
    writes.emplace_back(store::AppendAudit{
        {.number = 0,
         .at = now,
         .who = who,
         .what = ratified ? "pin.ratify" : "pin.reject",
         .detail = fmt::format(R"({{"id":{},"upstream":{},"kind":{},"name":{},"sha256":{},"by":{}}})", json::quote(id),
                               json::quote(record.upstream), json::quote(record.kind), json::quote(record.name),
                               json::quote(record.hash), json::quote(by))}});
    if (auto written = co_await store_.write(std::move(writes)); !written) {
      co_return std::unexpected(std::move(written.error()));
    }
    if (auto taken = served->pins()->take(record); !taken) co_return std::unexpected(std::move(taken.error()));
    if (ratified) {
      const auto result = co_await served->refresh();
      if (result.error) {
        log::warning("upstream {} serves what was ratified when it answers again: {}", record.upstream,
                     result.error->message());
      }
    }
    co_return UpstreamProposal{record.upstream, std::move(*posted)};
  }
  co_return std::unexpected(errors::not_found(fmt::format("there is no proposal {}", log::printable(id, 100))));
}

}  // namespace proteus::gateway
