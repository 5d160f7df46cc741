// How a running gateway takes part in a cluster: processes relay requests and apply each other's changes.
#include "app/serving/serving_cluster.hpp"

#include <map>
#include <set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/serving/serving_dependencies.hpp"
#include "app/serving/serving_live.hpp"
#include "base/date_time.hpp"
#include "base/secrets/sealing.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"

namespace proteus::app {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kAway{5};

std::string name_of(const Config& config) {
  boost::system::error_code ignored;
  return config.cluster.name.empty() ? fmt::format("{}-{}", asio::ip::host_name(ignored), ::getpid())
                                     : config.cluster.name;
}

cluster::MemberOptions options_of(const Config& config, Traits& traits) {
  const std::string start = json::hex(json::sha256(random_bytes(16))).substr(0, 8);
  cluster::MemberOptions options;
  options.name = fmt::format("{}-{}", name_of(config), start);
  options.facts = traits.write(nullptr);
  return options;
}

}  // namespace

std::size_t PeerRequests::begin() {
  const std::scoped_lock lock(mutex_);
  ++counts_[turn_];
  return turn_;
}

void PeerRequests::end(std::size_t turn) {
  const std::scoped_lock lock(mutex_);
  if (--counts_[turn] == 0) changed_.notify_all();
}

void PeerRequests::wait_for_present(Clock::Monotonic until) {
  std::unique_lock lock(mutex_);
  turn_ = 1;
  changed_.wait_until(lock, until, [this] { return counts_[0] == 0; });
}

Serving::Cluster::Cluster(Serving& serving, asio::io_context& control)
    : traits(name_of(serving.config_), write_date_time(store::to_time(serving.clock_.wall())), serving.config_),
      member(control, *serving.store_, serving.clock_, options_of(serving.config_, traits)),
      leases(control, *serving.store_, member),
      self(process_key_of(member.options().name)),
      session_ids(SealingKey::derive(serving.pepper_->value(), "session ids"), self),
      roster(*serving.store_, member),
      links(*serving.workers_, serving.clock_, cluster::PeerLinks::Keys(serving.pepper_->value()),
            member.options().name) {
  leases.add_on_members([this](const auto& members) {
    roster.take(members);
    links.set_living(roster.living());
  });
}

Task<Result<server::OtherProcesses::Relayed>> Serving::Cluster::relay(net::Exchange& exchange, ProcessKey to) {
  cluster::PeerPointer peer = roster.look_up(to);
  if (!peer) {
    auto found = co_await roster.find(to);
    if (!found) co_return std::unexpected(found.error());
    if (!*found) co_return Relayed::gone;
    peer = std::move(*found);
  }
  const auto passed = co_await links.pass_on(exchange, std::move(peer));
  if (passed && *passed == cluster::PeerLinks::Passed::answered) co_return Relayed::answered;
  if (!passed && passed.error().kind() != ErrorKind::unreachable) co_return std::unexpected(passed.error());
  // The process may have left since.
  if (const auto there = co_await roster.find_in_store(std::move(to)); there && !*there) co_return Relayed::gone;
  if (!passed) co_return std::unexpected(passed.error());
  co_return Relayed::not_there;
}

std::vector<ProcessKey> Serving::Cluster::living() const {
  std::vector<ProcessKey> others;
  for (const std::string& name : roster.living()) {
    if (auto key = process_key_of(name); key != self) others.push_back(std::move(key));
  }
  return others;
}

// Must run before the process joins: others learn its URL together with its name.
Result<> Serving::listen_for_peers() {
  const auto& address = config_.cluster.peer_listen;
  if (!cluster_ || !address || front_ != Front::http) return {};
  net::HttpServerOptions options;
  options.address = address->host == "localhost" ? "127.0.0.1" : address->host;
  options.port = address->port;
  options.limits.body_bytes = config_.server.max_body.value();
  // Leaves room for what the relaying process adds to a request that it has accepted.
  options.limits.head_bytes += 4096;
  options.limits.head_fields += 4;
  // Only processes of the cluster relay requests, so their forwarding fields are trusted.
  options.trusted_proxies = {"0.0.0.0/0", "::/0"};
  options.tls = cluster_->links.server_tls();
  options.is_multiplexed = true;
  peer_server_ = std::make_unique<net::HttpServer>(*workers_, std::move(options),
                                                   [this](net::Exchange& exchange) { return route_peer(exchange); });
  if (auto listening = peer_server_->listen(); !listening) return listening;
  std::string url = config_.cluster.peer_url;
  if (url.empty()) {
    const ListenAddress at{address->host, peer_server_->local_port()};
    url = fmt::format("https://{}", at.text());
  }
  cluster_->traits.reached_at(std::move(url));
  cluster_->member.set_facts(cluster_->traits.write(nullptr));
  return {};
}

Task<> Serving::route_peer(net::Exchange& exchange) {
  if (auto checked = cluster_->links.check(exchange.request()); !checked)
    co_return co_await cluster_->links.refuse(exchange, std::move(checked).error());
  // Before its tokens are loaded, this process would reject callers; and it has no sessions yet.
  if (!cluster_->serves) {
    co_await exchange.reply({.status = server::OtherProcesses::kNotThere, .content_type = "text/plain"},
                            "This process is starting.\n");
    co_return;
  }
  const std::string_view path = exchange.request().path();
  // A drain does not wait for GET requests, which only listen.
  std::optional<PeerRequests::One> counted;
  if (exchange.request().method() != "GET") counted.emplace(cluster_->requests);
  const bool is_old_sse = is_at(path, "/sse") && config_.server.old_sse;
  if (!is_at(path, "/mcp") && !is_old_sse) {
    co_await exchange.reply({.status = 404, .content_type = "text/plain"},
                            "There is nothing for peers at this path.\n");
    co_return;
  }
  server::HttpEndpoint& endpoint = gateway_->endpoint();
  // Not valid if the request was answered at once.
  if (Task<> rest = is_old_sse ? endpoint.handle_old_sse_for_peer(exchange) : endpoint.handle_for_peer(exchange);
      rest.valid())
    co_await std::move(rest);
}

void Serving::Cluster::compare(const std::vector<store::MemberRecord>& members, const gateway::DatasetState& datasets) {
  const std::string own = traits.write(&datasets);
  member.set_facts(own);
  std::vector<store::MemberRecord> others;
  for (const auto& record : members) {
    if (record.name != member.options().name && member.lives(record)) others.push_back(record);
  }
  sameness.look(own, others);
}

Result<> Serving::join_cluster() {
  if (!cluster_) return {};
  if (auto listening = listen_for_peers(); !listening) return listening;
  auto joined = asio::co_spawn(workers_->at(0), cluster_->member.join(), asio::use_future).get();
  cluster_->joined = joined.has_value();
  return joined;
}

void Serving::start_following() {
  if (!cluster_) return;
  asio::post(workers_->at(0), [this] {
    cluster_->member.start([this](const cluster::Member::Changed* changed) { return follow(changed); },
                           [this](bool blind) { dependencies_->tokens.set_blind(blind); });
    cluster_->leases.add_on_members([this](const std::vector<store::MemberRecord>& members) {
      cluster_->compare(members, *dependencies_->datasets.state());
    });
    cluster_->leases.start();
  });
}

void Serving::leave_cluster() {
  if (!cluster_ || !std::exchange(cluster_->joined, false)) return;
  const auto leave = [](Cluster& cluster) -> Task<> {
    co_await cluster.leases.stop();
    co_await cluster.member.leave();
  };
  asio::co_spawn(workers_->at(0), leave(*cluster_), asio::use_future).get();
}

Task<Result<>> Serving::follow(const std::vector<store::FeedEntry>* changed) {
  using Kind = store::RecordKind;
  if (changed == nullptr) co_return co_await follow_everything();
  bool upstreams = false;
  bool datasets = false;
  bool changes = false;
  std::set<std::string> tokens;
  std::map<std::string, std::vector<std::uint64_t>> sessions;
  std::set<std::string> pins;
  std::set<std::string> lists;
  std::set<std::pair<std::string, std::string>> grants;
  for (const auto& [number, key] : *changed) {
    switch (key.kind) {
      case Kind::upstream: upstreams = true; break;
      case Kind::setting: datasets = datasets || key.name.starts_with("datasets."); break;
      case Kind::token: tokens.insert(key.name); break;
      case Kind::tool_session:
      case Kind::session_tool: sessions[key.name].push_back(number); break;
      case Kind::pins: pins.insert(key.name); break;
      case Kind::snapshot: lists.insert(key.name); break;
      case Kind::sealed: grants.emplace(key.name, key.part); break;
      case Kind::change: changes = true; break;
    }
  }
  // Revocations come first: what is withdrawn must not be used longer than necessary.
  Result<> done;
  for (const auto& name : tokens) {
    if (done = co_await dependencies_->tokens.follow(name); !done) co_return done;
  }
  for (auto& [id, numbers] : sessions) {
    done = co_await dependencies_->sessions.follow(gateway::ToolSessionId(id), std::move(numbers));
    if (!done) co_return done;
  }
  for (const auto& [kind, id] : grants) {
    if (done = co_await gateway_->vault().follow(kind, id); !done) co_return done;
  }
  if (datasets) {
    if (done = co_await dependencies_->datasets.follow(); !done) co_return done;
  }
  if (upstreams) {
    if (done = co_await dependencies_->registry.follow(); !done) co_return done;
  }
  for (const auto& name : pins) {
    if (done = co_await gateway_->follow_pins(name); !done) co_return done;
  }
  for (const auto& name : lists) {
    if (done = co_await gateway_->follow_lists(name); !done) co_return done;
  }
  if (changes) dependencies_->changes.follow();
  co_return done;
}

Task<Result<>> Serving::follow_everything() {
  if (auto done = co_await dependencies_->tokens.follow_all(); !done) co_return done;
  if (auto done = co_await dependencies_->sessions.follow_all(); !done) co_return done;
  if (auto done = co_await gateway_->vault().follow_all(); !done) co_return done;
  if (auto done = co_await dependencies_->datasets.follow(); !done) co_return done;
  if (auto done = co_await dependencies_->registry.follow(); !done) co_return done;
  const auto table = gateway_->upstreams();
  for (const auto& served : table->order) {
    if (auto done = co_await gateway_->follow_pins(served->settings().name); !done) co_return done;
    if (auto done = co_await gateway_->follow_lists(served->settings().name); !done) co_return done;
  }
  dependencies_->changes.follow();
  co_return Result<>{};
}

Task<std::string> Serving::settle() {
  const auto settled = co_await cluster_->member.settle();
  if (!settled) co_return std::string();
  co_return fmt::format("Proteus-Applied: {}/{}\r\n", settled->applied, settled->live);
}

std::string Serving::describe_store() const {
  if (!cluster_) return {};
  std::string details = cluster_->member.behind() < kAway ? R"(,"store":"there")" : R"(,"store":"away")";
  if (live_) details += live_->client.is_connected() ? R"(,"redis":"there")" : R"(,"redis":"away")";
  return details + cluster_->sameness.describe();
}

}  // namespace proteus::app
