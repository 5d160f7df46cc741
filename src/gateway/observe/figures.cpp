#include "gateway/observe/figures.hpp"

#include <algorithm>

namespace proteus::gateway {

Figures::Total Figures::total_of(const UpstreamMeter& meter) {
  Total total;
  for (const UpstreamOutcome outcome : kUpstreamOutcomes) {
    total.requests += meter.requests(outcome);
    if (is_error(outcome)) total.failed += meter.requests(outcome);
  }
  total.timed = meter.timed();
  total.time = meter.time();
  return total;
}

// The counters are read one after the other, and may differ by the last requests.
Figure Figures::between(const Total& before, const Total& after) {
  const auto grown = [](std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; };
  Figure figure{.requests = grown(before.requests, after.requests), .failed = grown(before.failed, after.failed)};
  if (const auto timed = grown(before.timed, after.timed); timed > 0) {
    figure.mean_ms =
        std::chrono::duration<double, std::milli>(after.time - before.time).count() / static_cast<double>(timed);
  }
  return figure;
}

void Figures::look(Clock::Wall now) {
  const std::scoped_lock lock(mutex_);
  if (last_at_ && now - *last_at_ < kStep && now >= *last_at_) return;
  const auto counted = metrics_.totals();
  const Total total{counted.requests, counted.failed, counted.requests, counted.time};
  Sample sample{.at = now, .since_last = {}, .all = between(last_, total), .upstreams = {}};
  std::map<std::string, Total, std::less<>> totals;
  std::vector<std::pair<std::string, Figure>> asked;
  for (const auto& meter : metrics_.meters()) {
    const Total of_it = total_of(*meter);
    const auto before = last_of_upstreams_.find(meter->upstream());
    Figure figure = between(before == last_of_upstreams_.end() ? Total{} : before->second, of_it);
    if (figure.requests > 0) asked.emplace_back(meter->upstream(), figure);
    totals.emplace(meter->upstream(), of_it);
  }
  const auto busier = [](const auto& a, const auto& b) { return a.second.requests > b.second.requests; };
  const std::size_t kept = std::min(asked.size(), kMostUpstreams);
  std::ranges::partial_sort(asked, asked.begin() + static_cast<std::ptrdiff_t>(kept), busier);
  for (std::size_t i = 0; i < kept; ++i)
    sample.upstreams.insert(std::move(asked[i]));
  // Nobody knows over what time the counts before the first look were made.
  if (last_at_) {
    sample.since_last = now - *last_at_;
    samples_.push_back(std::move(sample));
    if (samples_.size() > kKept) samples_.pop_front();
  }
  last_at_ = now;
  last_ = total;
  last_of_upstreams_ = std::move(totals);
}

std::vector<Figures::Moment> Figures::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Moment> all;
  all.reserve(samples_.size());
  for (const Sample& sample : samples_)
    all.push_back({sample.at, sample.since_last, sample.all});
  return all;
}

std::vector<Figures::Moment> Figures::of_upstream(std::string_view upstream) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Moment> all;
  for (const Sample& sample : samples_) {
    const auto found = sample.upstreams.find(upstream);
    all.push_back({sample.at, sample.since_last, found == sample.upstreams.end() ? Figure{} : found->second});
  }
  return all;
}

}  // namespace proteus::gateway
