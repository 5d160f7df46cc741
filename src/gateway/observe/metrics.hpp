#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/bridge/parked_calls.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/observe/meter.hpp"
#include "gateway/observe/records.hpp"

namespace proteus::gateway {

// Everything that is counted, and the text that Prometheus reads. The sets of labels are bounded: methods, eras, kinds
// and outcomes are fixed, and upstreams are the present ones.
//
// Thread-safe. To be constructed after the gateway and before upstreams are set; to be destroyed after the gateway has
// stopped, and before the gateway.
class Metrics {
 public:
  // Sets the gateway's observers, except for that of refreshes, which has other users, too.
  explicit Metrics(Gateway& gateway);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // For Gateway::set_on_refreshed.
  void refreshed(const providers::RefreshResult& result);
  // Counts a notification of a changed list that Fanout did not send.
  void told_of(catalog::Kind kind) { list_changed_[kind].add(); }
  // Sources of what others count. To be set before `render`.
  void set_tool_sessions(std::function<std::size_t()> count) { tool_sessions_ = std::move(count); }
  void set_stalls(std::function<std::uint64_t()> count) { stalls_ = std::move(count); }
  // Also records requests to upstreams. To be called before any request; the records must outlive this.
  void set_records(Records& records);
  void set_embedding_failures(std::function<std::uint64_t()> count) { embedding_failures_ = std::move(count); }

  // Totals of all requests of clients.
  struct Totals {
    std::uint64_t requests = 0;
    std::uint64_t failed = 0;
    std::chrono::nanoseconds time{};
  };
  Totals totals() const;
  // Returns the meters of all upstreams, and forgets those of upstreams that are gone. To be called now and then.
  std::vector<std::shared_ptr<const UpstreamMeter>> meters();

  // Figures of this process among several that serve as one.
  struct ClusterFigures {
    double behind_seconds = 0;  // for how long changes of others may have been missed
    std::size_t watched = 0;    // number of upstreams
  };
  void set_cluster(std::function<ClusterFigures()> figures) { cluster_ = std::move(figures); }

  // Figures of the Redis that keeps what is live.
  struct RedisFigures {
    bool connected = false;
    std::uint64_t commands = 0;  // sent
    std::uint64_t failed = 0;    // of those sent
    std::uint64_t dropped = 0;   // not sent, because Redis was away or too many waited
    std::size_t waiting = 0;     // for an answer
  };
  void set_redis(std::function<RedisFigures()> figures) { redis_ = std::move(figures); }

  // The text format of Prometheus, version 0.0.4.
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";
  std::string render();

 private:
  enum class Outcome : std::uint8_t { ok, tool_error, input_required, error, cancelled };
  static constexpr std::array<std::string_view, 5> kOutcomes = {"ok", "tool_error", "input_required", "error",
                                                                "cancelled"};
  static constexpr std::size_t kMethods = static_cast<std::size_t>(mcp::Method::progress) + 1;
  static constexpr std::array kEras = {mcp::Era::legacy, mcp::Era::modern};

  struct alignas(kCacheLine) Requests {
    std::array<Counter, kOutcomes.size()> outcomes;
  };

  void count(const AnsweredRequest& answered);
  std::shared_ptr<UpstreamMeter> meter(const providers::UpstreamSettings& settings);

  Gateway& gateway_;
  std::array<std::array<Requests, kEras.size()>, kMethods> requests_;
  Durations request_time_;
  Durations refresh_time_;
  catalog::PerKind<Counter> list_changed_;
  std::function<std::size_t()> tool_sessions_;
  std::function<std::uint64_t()> stalls_;
  std::function<std::uint64_t()> embedding_failures_;
  std::function<ClusterFigures()> cluster_;
  std::function<RedisFigures()> redis_;
  std::array<Counter, kUnparked.size()> unparked_;
  Durations parked_time_;

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<UpstreamMeter>, std::less<>> meters_;
};

}  // namespace proteus::gateway
