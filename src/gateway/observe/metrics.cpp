#include "gateway/observe/metrics.hpp"

#include <limits>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace proteus::gateway {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

MetricFamily family(const char* name, MetricType type, const char* help) {
  return {.name = name, .help = help, .type = type, .metric = {}};
}

void add_counter(MetricFamily& to, std::uint64_t value, Labels labels) {
  ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  metric.counter.value = static_cast<double>(value);
}

void add_gauge(MetricFamily& to, double value, Labels labels = {}) {
  ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = value;
}

void add_durations(MetricFamily& to, const Durations& durations, Labels labels = {}) {
  ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i <= Durations::kBounds.size(); ++i) {
    so_far += durations.bucket(i);
    const double bound =
        i < Durations::kBounds.size() ? seconds(Durations::kBounds[i]) : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({.cumulative_count = so_far, .upper_bound = bound});
  }
  metric.histogram.sample_count = so_far;
  metric.histogram.sample_sum = seconds(durations.sum());
}

std::string text(std::string_view view) { return std::string(view); }

struct UpstreamFamilies {
  MetricFamily requests = family("proteus_upstream_requests_total", MetricType::Counter,
                                 "Requests to upstreams on behalf of callers, by how they ended.");
  MetricFamily up = family("proteus_upstream_up", MetricType::Gauge, "Whether the upstream answers and is up to date.");
  MetricFamily refreshes =
      family("proteus_upstream_refreshes_total", MetricType::Counter, "Readings of an upstream's lists.");
  MetricFamily direct_requests = family("direct_proxy_requests_total", MetricType::Counter,
                                        "Requests to direct_proxy upstreams on behalf of callers.");
  MetricFamily direct_latency = family("direct_proxy_latency_seconds", MetricType::Histogram,
                                       "How long requests to direct_proxy upstreams took.");
  MetricFamily direct_errors = family("direct_proxy_errors_total", MetricType::Counter,
                                      "Requests to direct_proxy upstreams that failed, by what failed.");

  void add(const UpstreamMeter& meter) {
    const ClientMetric::Label upstream{"upstream", meter.upstream()};
    for (const UpstreamOutcome outcome : kUpstreamOutcomes) {
      const std::uint64_t value = meter.requests(outcome);
      if (value > 0 || outcome == UpstreamOutcome::ok)
        add_counter(requests, value, {upstream, {"outcome", text(to_string(outcome))}});
    }
    add_counter(refreshes, meter.refreshes(true), {upstream, {"outcome", "ok"}});
    add_counter(refreshes, meter.refreshes(false), {upstream, {"outcome", "error"}});
    const auto* direct = meter.direct();
    if (direct == nullptr) return;
    for (std::size_t i = 0; i < kForwarded.size(); ++i)
      add_counter(direct_requests, direct->methods[i].value(),
                  {upstream, {"method", text(mcp::to_string(kForwarded[i]))}});
    if (const auto others = direct->methods.back().value(); others > 0)
      add_counter(direct_requests, others, {upstream, {"method", "other"}});
    for (const UpstreamOutcome outcome : kUpstreamOutcomes) {
      if (!is_error(outcome)) continue;
      add_counter(direct_errors, direct->outcomes[static_cast<std::size_t>(outcome)].value(),
                  {upstream, {"type", text(to_string(outcome))}});
    }
    add_durations(direct_latency, direct->latency, {upstream});
  }
};

}  // namespace

Metrics::Metrics(Gateway& gateway) : gateway_(gateway) {
  gateway.set_meters([this](const providers::UpstreamSettings& settings) { return meter(settings); });
  gateway.service().set_observer([](const UpstreamRequest& request) {
    if (request.upstream.meter != nullptr) request.upstream.meter->count(request);
  });
  gateway.service().set_request_observer([this](const AnsweredRequest& answered) { count(answered); });
  gateway.service().parked().set_observer([this](Unparked how, std::chrono::nanoseconds time) {
    unparked_[static_cast<std::size_t>(how)].add();
    if (how != Unparked::refused) parked_time_.add(time);
  });
  gateway.fanout().set_observer([this](catalog::Kind kind) { list_changed_[kind].add(); });
}

void Metrics::set_records(Records& records) {
  gateway_.service().set_observer([&records](const UpstreamRequest& request) {
    if (request.upstream.meter != nullptr) request.upstream.meter->count(request);
    records.add(request);
  });
}

void Metrics::count(const AnsweredRequest& answered) {
  Outcome outcome = Outcome::ok;
  if (!answered.outcome) {
    outcome = answered.outcome.error().kind() == ErrorKind::cancelled ? Outcome::cancelled : Outcome::error;
  } else if (const auto* reply = std::get_if<mcp::Reply>(&*answered.outcome); reply == nullptr) {
    outcome = Outcome::input_required;
  } else if (reply->is_tool_error) {
    outcome = Outcome::tool_error;
  }
  requests_[static_cast<std::size_t>(answered.method)][static_cast<std::size_t>(answered.era)]
      .outcomes[static_cast<std::size_t>(outcome)]
      .add();
  request_time_.add(answered.took);
}

std::shared_ptr<UpstreamMeter> Metrics::meter(const providers::UpstreamSettings& settings) {
  const std::scoped_lock lock(mutex_);
  auto& meter = meters_[settings.name];
  if (!meter) meter = std::make_shared<UpstreamMeter>(settings.name);
  if (settings.refresh_strategy == providers::RefreshStrategy::direct_proxy) meter->allow_direct();
  return meter;
}

Metrics::Totals Metrics::totals() const {
  Totals totals{.requests = request_time_.count(), .failed = 0, .time = request_time_.sum()};
  for (const auto& eras : requests_) {
    for (const Requests& requests : eras)
      totals.failed += requests.outcomes[static_cast<std::size_t>(Outcome::error)].value();
  }
  return totals;
}

// Calls and threads may hold an upstream for a while after it is gone. When the last one has released it, its meter is
// forgotten.
std::vector<std::shared_ptr<const UpstreamMeter>> Metrics::meters() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(meters_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::vector<std::shared_ptr<const UpstreamMeter>> all;
  all.reserve(meters_.size());
  for (const auto& [name, meter] : meters_)
    all.push_back(meter);
  return all;
}

void Metrics::refreshed(const providers::RefreshResult& result) {
  refresh_time_.add(result.duration);
  const std::scoped_lock lock(mutex_);
  if (const auto found = meters_.find(result.upstream.value()); found != meters_.end())
    found->second->count_refresh(result.ok());
}

std::string Metrics::render() {
  std::vector<MetricFamily> families;

  auto requests = family("proteus_requests_total", MetricType::Counter, "Requests of clients, by how they ended.");
  for (std::size_t method = 0; method < kMethods; ++method) {
    for (const mcp::Era era : kEras) {
      for (std::size_t outcome = 0; outcome < kOutcomes.size(); ++outcome) {
        const std::uint64_t value = requests_[method][static_cast<std::size_t>(era)].outcomes[outcome].value();
        if (value == 0) continue;
        add_counter(requests, value,
                    {{"method", text(mcp::to_string(static_cast<mcp::Method>(method)))},
                     {"era", text(mcp::to_string(era))},
                     {"outcome", text(kOutcomes[outcome])}});
      }
    }
  }
  families.push_back(std::move(requests));
  auto request_time =
      family("proteus_request_seconds", MetricType::Histogram, "How long requests of clients took to be answered.");
  add_durations(request_time, request_time_);
  families.push_back(std::move(request_time));

  auto refusals = family("proteus_refusals_total", MetricType::Counter, "Requests that were turned away, by reason.");
  for (const RefusalReason reason : kRefusalReasons)
    add_counter(refusals, gateway_.refusals().count(reason), {{"reason", text(to_string(reason))}});
  families.push_back(std::move(refusals));

  UpstreamFamilies upstreams;
  const auto table = gateway_.upstreams();
  for (const auto& served : table->order) {
    if (served.meter != nullptr) upstreams.add(*served.meter);
    add_gauge(upstreams.up, served->status().state == providers::UpstreamState::connected ? 1 : 0,
              {{"upstream", served->settings().name}});
  }
  auto refresh_time =
      family("proteus_upstream_refresh_seconds", MetricType::Histogram, "How long readings of upstreams' lists took.");
  add_durations(refresh_time, refresh_time_);
  families.push_back(std::move(upstreams.requests));
  families.push_back(std::move(upstreams.up));
  families.push_back(std::move(upstreams.refreshes));
  families.push_back(std::move(refresh_time));
  families.push_back(std::move(upstreams.direct_requests));
  families.push_back(std::move(upstreams.direct_latency));
  families.push_back(std::move(upstreams.direct_errors));

  auto list_changed = family("proteus_list_changed_total", MetricType::Counter, "Lists that clients were told of.");
  for (const catalog::Kind kind : {catalog::Kind::tool, catalog::Kind::prompt, catalog::Kind::resource})
    add_counter(list_changed, list_changed_[kind].value(), {{"kind", text(catalog::info(kind).plural)}});
  families.push_back(std::move(list_changed));

  server::Sessions& sessions = gateway_.endpoint().sessions();
  const std::size_t session_count = sessions.size();
  const std::size_t listeners = gateway_.listeners().size();
  const auto gauge = [&](const char* name, const char* help, std::size_t value) {
    add_gauge(families.emplace_back(family(name, MetricType::Gauge, help)), static_cast<double>(value));
  };
  gauge("proteus_client_sessions", "Sessions of legacy clients.", session_count);
  gauge("proteus_tool_sessions", "Sessions that tools are registered for.", tool_sessions_ ? tool_sessions_() : 0);
  gauge("proteus_streams", "Streams on which clients wait for changes.",
        (listeners > session_count ? listeners - session_count : 0) + sessions.attached());

  gauge("proteus_parked_calls", "Calls whose client was asked for input and has not come back.",
        gateway_.service().parked().size());
  auto unparked = family("proteus_parked_calls_total", MetricType::Counter, "Parked calls, by how they were let go.");
  for (const Unparked how : kUnparked)
    add_counter(unparked, unparked_[static_cast<std::size_t>(how)].value(), {{"end", text(to_string(how))}});
  families.push_back(std::move(unparked));
  auto parked_time = family("proteus_parked_seconds", MetricType::Histogram, "How long calls were parked.");
  add_durations(parked_time, parked_time_);
  families.push_back(std::move(parked_time));

  auto entries = family("proteus_catalog_entries", MetricType::Gauge, "Definitions in the catalog.");
  const auto catalog = gateway_.catalog().current();
  for (const catalog::Kind kind : catalog::kKinds)
    add_gauge(entries, static_cast<double>(catalog->count(kind)), {{"kind", text(catalog::info(kind).plural)}});
  families.push_back(std::move(entries));

  auto stalls = family("proteus_worker_stalls_total", MetricType::Counter,
                       "Handlers that kept a worker thread for longer than limits.worker_stall.");
  add_counter(stalls, stalls_ ? stalls_() : 0, {});
  families.push_back(std::move(stalls));

  auto failures = family("proteus_search_embedding_failures_total", MetricType::Counter,
                         "Requests to the embedding endpoint that came to nothing.");
  add_counter(failures, embedding_failures_ ? embedding_failures_() : 0, {});
  families.push_back(std::move(failures));

  if (cluster_) {
    const auto figures = cluster_();
    add_gauge(families.emplace_back(family("proteus_cluster_behind_seconds", MetricType::Gauge,
                                           "For how long changes of other processes may have been missed.")),
              figures.behind_seconds);
    gauge("proteus_cluster_watched_upstreams", "Upstreams that this process watches for all.", figures.watched);
  }
  if (redis_) {
    const auto figures = redis_();
    const auto counter = [&families](const char* name, const char* help, std::uint64_t value) {
      add_counter(families.emplace_back(family(name, MetricType::Counter, help)), value, {});
    };
    gauge("proteus_redis_connected", "Whether Redis is there.", figures.connected ? 1 : 0);
    counter("proteus_redis_commands_total", "Commands sent to Redis.", figures.commands);
    counter("proteus_redis_failed_commands_total", "Commands that Redis refused or did not answer.", figures.failed);
    counter("proteus_redis_dropped_commands_total", "Commands that were not sent.", figures.dropped);
    gauge("proteus_redis_waiting_commands", "Commands that Redis has not answered yet.", figures.waiting);
  }

  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace proteus::gateway
