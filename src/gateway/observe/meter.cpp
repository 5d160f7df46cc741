#include "gateway/observe/meter.hpp"

#include <algorithm>

namespace proteus::gateway {

std::string_view to_string(UpstreamOutcome outcome) {
  switch (outcome) {
    case UpstreamOutcome::ok: return "ok";
    case UpstreamOutcome::tool_error: return "tool_error";
    case UpstreamOutcome::cancelled: return "cancelled";
    case UpstreamOutcome::connect: return "connect";
    case UpstreamOutcome::timeout: return "timeout";
    case UpstreamOutcome::http: return "http";
    case UpstreamOutcome::protocol: return "protocol";
    case UpstreamOutcome::upstream: return "upstream";
    case UpstreamOutcome::circuit: return "circuit";
  }
  return "ok";
}

UpstreamOutcome outcome_of(const UpstreamRequest& request) {
  if (request.error == nullptr) return request.is_tool_error ? UpstreamOutcome::tool_error : UpstreamOutcome::ok;
  if (request.cut_off) return UpstreamOutcome::circuit;
  switch (request.error->kind()) {
    case ErrorKind::cancelled: return UpstreamOutcome::cancelled;
    case ErrorKind::unreachable:
    case ErrorKind::interrupted: return UpstreamOutcome::connect;
    case ErrorKind::timeout: return UpstreamOutcome::timeout;
    // Reported by an HTTP status, not by a message of the protocol.
    case ErrorKind::unauthenticated:
    case ErrorKind::forbidden:
    case ErrorKind::not_found:
    case ErrorKind::exhausted:
    case ErrorKind::unavailable: return UpstreamOutcome::http;
    case ErrorKind::remote: return request.error->rpc_code() == 0 ? UpstreamOutcome::http : UpstreamOutcome::upstream;
    default: return UpstreamOutcome::protocol;
  }
}

std::size_t forwarded_index(mcp::Method method) {
  return static_cast<std::size_t>(std::ranges::find(kForwarded, method) - kForwarded.begin());
}

void UpstreamMeter::count(const UpstreamRequest& request) {
  const UpstreamOutcome outcome = outcome_of(request);
  outcomes_[static_cast<std::size_t>(outcome)].add();
  time_.fetch_add(static_cast<std::uint64_t>(request.took.count()), std::memory_order_relaxed);
  if (!request.upstream->is_direct()) return;
  Direct* direct = direct_.load(std::memory_order_acquire);
  if (direct == nullptr) return;
  direct->methods[forwarded_index(request.method)].add();
  direct->outcomes[static_cast<std::size_t>(outcome)].add();
  if (outcome != UpstreamOutcome::circuit) direct->latency.add(request.took);
}

std::uint64_t UpstreamMeter::timed() const {
  std::uint64_t all = 0;
  for (const UpstreamOutcome outcome : kUpstreamOutcomes) {
    if (outcome != UpstreamOutcome::circuit) all += requests(outcome);
  }
  return all;
}

void UpstreamMeter::allow_direct() {
  if (owned_) return;
  owned_ = std::make_unique<Direct>();
  direct_.store(owned_.get(), std::memory_order_release);
}

}  // namespace proteus::gateway
