#include "net/http_client/client_core.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/error.hpp>

#include "net/http_client/client_exchange.hpp"
#include "net/http_client/client_tls.hpp"

namespace proteus::net {
namespace {

constexpr std::size_t kMaxSpare = 64;
constexpr std::size_t kMostOverLink = 32;
constexpr std::chrono::seconds kSpareKept{1};
constexpr std::chrono::milliseconds kJustUsed{100};
// Closing idle connections is not urgent.
constexpr std::chrono::milliseconds kSlowSweep = std::chrono::seconds(1);

}  // namespace

ClientCore::ClientCore(boost::asio::io_context& io, const Clock& clock, HttpClientOptions options)
    : io_(io), clock_(clock), options_(std::move(options)), timer_(io) {
  if (!options_.names) options_.names = std::make_shared<NameLookup>();
}

ClientCore::~ClientCore() = default;

Connecting::Means ClientCore::means() {
  return {.io = io_,
          .clock = clock_,
          .deadlines = deadlines_,
          .filter = options_.address_filter,
          .names = options_.names,
          .tls = [this] { return tls(); },
          .proxy_limits = options_.response_limits};
}

Result<TlsContext> ClientCore::tls() {
  if (!options_.tls) {
    auto made = client_tls({});
    if (!made) return made;
    options_.tls = std::move(*made);
  }
  return *options_.tls;
}

HostPool& ClientCore::enter(std::string_view key) {
  auto found = hosts_.find(key);
  if (found == hosts_.end()) {
    found = hosts_.emplace(key, HostPool{.key = std::string(key), .idle = {}, .links = {}, .users = 0}).first;
  }
  ++found->second.users;
  return found->second;
}

void ClientCore::leave(HostPool& host) {
  --host.users;
  if (host.is_unused()) hosts_.erase(hosts_.find(host.key));
}

std::optional<HostPool::Idle> ClientCore::take_idle(HostPool& host) {
  while (!host.idle.empty()) {
    HostPool::Idle idle = std::move(host.idle.back());
    host.idle.pop_back();
    const auto now = clock_.recent();
    const bool allowed = idle.filter_version == filter_version() && now < idle.until;
    const bool just_used = now - idle.since < kJustUsed;
    // A connection is useless if the host has closed it or sent unrequested bytes on it. Between two requests in quick
    // succession, only events that are already known count, which saves a system call.
    std::array<char, 1> byte;
    if (allowed && ((just_used && !idle.stream.has_news()) ||
                    idle.stream.try_read(byte).error == boost::asio::error::would_block)) {
      ++reused_;
      return idle;
    }
    idle.stream.close();
  }
  return std::nullopt;
}

void ClientCore::give_back(HostPool& host, Stream stream, std::chrono::milliseconds idle_time, std::uint64_t version) {
  if (closed_ || host.idle.size() >= options_.max_idle_per_host || version != filter_version()) return stream.close();
  const auto now = clock_.recent();
  host.idle.push_back({std::move(stream), now, now + std::min(idle_time, options_.max_idle_time), version});
}

std::optional<Stream> ClientCore::open_over_link(HostPool& host) {
  std::erase_if(host.links, [](const HostPool::Link& link) { return !link.way->is_open(); });
  for (const auto& link : host.links) {
    if (link.way->can_open() && link.way->streams() < kMostOverLink) return link.way->open();
  }
  return std::nullopt;
}

Stream ClientCore::open_over(HostPool& host, Stream link) {
  // Another request may have opened a link in the meantime.
  if (auto stream = open_over_link(host)) {
    link.shutdown();
    link.close();
    return *std::move(stream);
  }
  host.links.push_back({std::make_shared<Multiplexer>(std::move(link)), clock_.recent() + options_.max_idle_time});
  Multiplexer& way = *host.links.back().way;
  way.start();
  return way.open();
}

std::unique_ptr<ClientExchange> ClientCore::new_exchange() {
  if (spare_.empty()) return std::make_unique<ClientExchange>();
  auto exchange = std::move(spare_.back());
  spare_.pop_back();
  unneeded_ = std::min(unneeded_, spare_.size());
  return exchange;
}

void ClientCore::recycle(std::unique_ptr<ClientExchange> exchange) {
  if (!closed_ && spare_.size() < kMaxSpare) spare_.push_back(std::move(exchange));
}

void ClientCore::arm() {
  if (pace_ != Pace::fast) arm(Pace::fast);
}

void ClientCore::arm(Pace pace) {
  pace_ = pace;
  timer_.expires_after(pace == Pace::fast ? options_.sweep_interval : std::max(options_.sweep_interval, kSlowSweep));
  timer_.async_wait([weak = weak_from_this()](ErrorCode error) {
    const auto core = weak.lock();
    if (error || !core || core->closed_) return;
    core->pace_ = Pace::off;
    core->sweep();
  });
}

void ClientCore::drop_spare(Clock::Monotonic now) {
  if (now < look_at_spare_) return;
  spare_.erase(spare_.begin(), spare_.begin() + static_cast<std::ptrdiff_t>(unneeded_));
  unneeded_ = spare_.size();
  look_at_spare_ = now + kSpareKept;
}

void ClientCore::drop_unused(HostPool& host, Clock::Monotonic now) const {
  std::erase_if(host.idle, [&](HostPool::Idle& idle) { return idle.until <= now; });
  std::erase_if(host.links, [&](HostPool::Link& link) {
    if (link.way->streams() > 0) link.until = now + options_.max_idle_time;
    if (link.until <= now) link.way->close();
    return !link.way->is_open();
  });
}

void ClientCore::sweep() {
  const auto now = clock_.now();
  deadlines_.sweep(now);
  drop_spare(now);
  bool any_idle = false;
  for (auto next = hosts_.begin(); next != hosts_.end();) {
    HostPool& host = next->second;
    drop_unused(host, now);
    any_idle = any_idle || !host.idle.empty() || !host.links.empty();
    next = host.is_unused() ? hosts_.erase(next) : std::next(next);
  }
  if (closed_ || pace_ != Pace::off) return;
  if (!deadlines_.empty()) {
    arm(Pace::fast);
  } else if (any_idle || !spare_.empty()) {
    arm(Pace::slow);
  }
}

void ClientCore::close() {
  closed_ = true;
  timer_.cancel();
  deadlines_.abandon_all();
  for (auto& [key, host] : hosts_) {
    host.idle.clear();
    for (const auto& link : std::exchange(host.links, {}))
      link.way->close();
  }
  std::erase_if(hosts_, [](const auto& entry) { return entry.second.is_unused(); });
  spare_.clear();
  unneeded_ = 0;
}

HttpClient::Stats ClientCore::stats() const {
  HttpClient::Stats stats{.opened = opened_, .reused = reused_, .idle = 0, .spare = spare_.size()};
  for (const auto& [key, host] : hosts_)
    stats.idle += host.idle.size();
  return stats;
}

}  // namespace proteus::net
