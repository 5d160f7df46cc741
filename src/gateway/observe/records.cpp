#include "gateway/observe/records.hpp"

#include <algorithm>
#include <iterator>
#include <queue>

#include "gateway/callers/principal.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {
namespace {

std::string beginning_of(std::string_view text) { return std::string(text.substr(0, Records::kLongestName)); }

std::uint64_t last_of(const std::deque<CallRecord>& records) { return records.back().number; }

}  // namespace

void Records::add(const UpstreamRequest& request) {
  if (request.call == nullptr) return;
  const server::Call& call = *request.call;
  CallRecord record{.at = clock_.wall(),
                    .upstream = request.upstream->settings().name,
                    .principal = beginning_of(principal_of(call.caller()).name()),
                    .context = call.caller().context,
                    .method = request.method,
                    .name = beginning_of(call.request().name),
                    .outcome = outcome_of(request),
                    .took = request.took};
  const std::scoped_lock lock(mutex_);
  auto found = by_upstream_.find(record.upstream);
  if (found == by_upstream_.end()) {
    if (by_upstream_.size() >= kMostUpstreams) {
      by_upstream_.erase(
          std::ranges::min_element(by_upstream_, {}, [](const auto& one) { return last_of(one.second); }));
    }
    found = by_upstream_.try_emplace(record.upstream).first;
  }
  record.number = ++last_;
  if (found->second.size() >= kOfUpstream) found->second.pop_front();
  found->second.push_back(std::move(record));
}

std::vector<CallRecord> Records::newest(const std::optional<std::string>& upstream, std::size_t limit) const {
  // The newest record of an upstream that was not taken yet, and the upstream's oldest one.
  struct Next {
    const CallRecord& operator*() const { return *at; }
    bool operator<(const Next& other) const { return at->number < other.at->number; }
    std::deque<CallRecord>::const_iterator at;
    std::deque<CallRecord>::const_iterator first;
  };
  std::vector<CallRecord> found;
  // Calls wait for the mutex, so only the records that are wanted are copied.
  const std::scoped_lock lock(mutex_);
  std::priority_queue<Next> next;
  for (const auto& [name, records] : by_upstream_) {
    if (!upstream || name == *upstream) next.push({std::prev(records.end()), records.begin()});
  }
  while (found.size() < limit && !next.empty()) {
    Next newest = next.top();
    next.pop();
    found.push_back(*newest);
    if (newest.at == newest.first) continue;
    --newest.at;
    next.push(newest);
  }
  return found;
}

}  // namespace proteus::gateway
