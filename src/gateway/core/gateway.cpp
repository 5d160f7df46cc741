#include "gateway/core/gateway.hpp"

#include <algorithm>
#include <map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/upstreams/local_provider.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// Returns what follows the first segment of a path: "work" for "/mcp/work". Ignores a slash at the end.
std::string_view context_of(std::string_view path) {
  const std::size_t slash = path.find('/', 1);
  if (slash == std::string_view::npos) return {};
  path.remove_prefix(slash + 1);
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Returns a version above all that an earlier instance of the same name published.
std::uint64_t first_version(std::uint64_t instance) { return instance << 32U; }

GatewayOptions completed(GatewayOptions options) {
  if (!options.chance) options.chance = client::random_chance;
  options.service.chance = options.chance;
  return options;
}

}  // namespace

Gateway::Gateway(net::Workers& workers, const Clock& clock, Environment environment, store::Store& store,
                 SealingKey key, GatewayOptions options)
    : workers_(workers),
      clock_(clock),
      environment_(std::move(environment)),
      store_(store),
      options_(completed(std::move(options))),
      refusals_(clock),
      catalog_(options_.leases != nullptr ? catalog::Catalog::Layout::shared : catalog::Catalog::Layout::own),
      tables_(std::make_shared<const UpstreamTable>()),
      access_(std::make_shared<const Access>(
          Access{std::make_shared<const Principals>(std::vector<PrincipalSettings>{}, Anonymous::refused), {}})),
      quotas_(options_.quotas, refusals_),
      programs_(options_.programs),
      fanout_(workers.at(0), listeners_, background_threads_, options_.debounce),
      parked_sessions_(workers.at(0), store, key,
                       options_.leases != nullptr ? options_.leases->owner() : std::string()),
      background_(workers.at(0).get_executor()),
      changes_(workers.at(0).get_executor()) {
  std::vector<Worker*> parts;
  parts.reserve(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    parts.push_back(parts_
                        .emplace_back(std::make_unique<Worker>(workers.at(i), clock, catalog_, tables_, access_,
                                                               quotas_, options_.http, options_.debounce))
                        .get());
  }
  if (options_.leases != nullptr)
    options_.leases->add_on_members([this](const auto& members) { end_sessions_of_gone(members); });
  identities_ = std::make_unique<Identities>(workers.at(0).get_executor(), parts_.front()->http(), clock, refusals_);
  fetch_ = std::make_unique<auth::HttpFetch>(parts_.front()->http());
  oauth_servers_ = std::make_unique<OAuthServers>(*fetch_, clock, environment_);
  vault_ = std::make_unique<Vault>(
      Vault::Dependencies{workers.at(0), store, clock, *oauth_servers_, options_.leases != nullptr});
  oauth_servers_->set_vault(*vault_);
  vault_->on_change([this](const GrantChange& change) {
    if (change.grant->owner == gateway_owner() && !stopping_)
      background_.spawn("renewing upstreams", renew_upstreams());
  });
  for (const auto& part : parts_) {
    part->set_identities(*identities_);
    part->set_vault(*vault_);
  }
  programs_.set_workers(parts);
  subscriptions_ = std::make_unique<Subscriptions>(parts, listeners_);
  subscriptions_->set_on_follow(
      [this](const std::string& uri, const catalog::UpstreamName& upstream) { follow_at(uri, upstream); });
  service_ = std::make_unique<GatewayService>(options_.service, workers, std::move(parts), *subscriptions_, clock, key,
                                              refusals_);
  service_->set_on_lists_changed(
      [this](const std::string& principal, catalog::KindSet kinds) { fanout_.lists_changed_for(principal, kinds); });
  service_->parked().set_prepare([this](const ParkedCalls::Call& call) {
    return parked_sessions_.keep(call.upstream, call.running->connection());
  });
  server::HttpEndpointOptions endpoint = options_.endpoint;
  endpoint.refusals = &refusals_;
  endpoint.background = &answer_threads_;
  endpoint.doorkeeper = {
      .look = [this](const net::Request& request) { return admit_now(request, context_of(request.path())); },
      .wait = [this](const net::Request& request) { return admit(request, context_of(request.path())); }};
  endpoint.challenge = [this](const net::Request& request, const Error& error) {
    return identities_->challenge(context_of(request.path()), error);
  };
  endpoint.admit_request = [this](const server::Caller& caller) { return admit_request(caller); };
  endpoint.admit_stream = [this](const server::Caller& caller) { return admit_stream(caller); };
  endpoint_ = std::make_unique<server::HttpEndpoint>(*service_, listeners_, clock, key, std::move(endpoint));
  listeners_.set_on_follow([this](const std::string& uri, bool followed) { follow(uri, followed); });
}

Gateway::~Gateway() = default;

net::HttpClient& Gateway::http_of(asio::io_context& io) {
  return (*std::ranges::find_if(parts_, [&](const auto& part) { return &part->io() == &io; }))->http();
}

Task<Result<std::shared_ptr<providers::UpstreamPins>>> Gateway::pins_for(const providers::UpstreamSettings& settings,
                                                                         const ServedUpstream* known) {
  if (settings.trust != providers::Trust::pin) co_return nullptr;
  const auto decided = co_await store_.pins_of(settings.name);
  // An upstream whose settings limit it must not go on without them because the store is away.
  if (!decided && known != nullptr && (*known)->pins()) co_return (*known)->pins();
  if (!decided) co_return std::unexpected(decided.error());
  co_return std::make_shared<providers::UpstreamPins>(settings.name, *decided);
}

Result<ServedUpstream> Gateway::make(const providers::UpstreamSettings& settings,
                                     std::shared_ptr<providers::UpstreamPins> pins) {
  asio::io_context& io = workers_.next();
  const std::uint64_t instance = ++last_instance_;
  providers::UpstreamDependencies around{
      .io = io,
      .http = http_of(io),
      .clock = clock_,
      .environment = environment_,
      .chance = options_.chance,
      .limits = options_.upstreams,
      .client_info = options_.service.server_info,
      .published_version = first_version(instance),
      .pins = std::move(pins),
      .shared = options_.leases != nullptr && is_shared(settings),
      .lead = [this, name = settings.name, instance] { return lead(name, instance); },
      .fence = [this, name = settings.name] { return fence_of(name); },
      .start_places = start_places_,
      .background = background_threads_,
      .answers = answer_threads_,
      .publish =
          [this](catalog::SnapshotPointer snapshot) {
            // Derives what access rules and contexts show of the snapshot, so that no request has to. Takes time
            // proportional to the snapshot.
            access_.get()->look_at(snapshot);
            identities_->look_at(snapshot);
            return catalog_.publish(std::move(snapshot));
          },
      .on_refreshed =
          [this](const providers::RefreshResult& result, const catalog::Publication* publication) {
            if (publication != nullptr) fanout_.publish(*publication);
            if (publication != nullptr && changes_resources(*publication))
              asio::post(control(), [this] { look_for_followed(); });
            if (on_refreshed_) on_refreshed_(result, publication);
          },
      .keep =
          [this, name = settings.name] {
            asio::post(control(), [this, name] {
              unkept_.insert(name);
              keep_soon(name);
            });
          },
      .on_resource_updated =
          [this, name = catalog::UpstreamName(settings.name)](const std::string& uri) {
            listeners_.resource_updated(
                uri, [&](const server::Caller& caller) { return principal_of(caller).access().allows(name); });
          },
      .on_lists_changed = [this, name = catalog::UpstreamName(settings.name)](
                              catalog::KindSet kinds) { fanout_.lists_changed(name, kinds); },
  };
  set_credentials(settings, around);
  auto made = providers::Upstream::make(settings, std::move(around));
  if (!made) return std::unexpected(made.error());
  struct Metered {
    Metered(std::shared_ptr<UpstreamMeter> counted, std::size_t at_once, std::unique_ptr<providers::Upstream> served)
        : meter(std::move(counted)), calls(at_once), upstream(std::move(served)) {}
    std::shared_ptr<UpstreamMeter> meter;
    ConcurrencyLimit calls;
    std::unique_ptr<providers::Upstream> upstream;
  };
  const auto metered = std::make_shared<Metered>(meters_ ? meters_(settings) : std::shared_ptr<UpstreamMeter>(),
                                                 options_.quotas.calls_per_upstream, std::move(*made));
  return ServedUpstream{instance, {metered, metered->upstream.get()}, metered->meter.get(), &metered->calls};
}

Task<Result<>> Gateway::set_upstreams(Settings settings, ChangedBy by) {
  co_return co_await asio::co_spawn(control(), change_upstreams(std::move(settings), by), asio::use_awaitable);
}

Task<Result<>> Gateway::change_upstreams(Settings settings, ChangedBy by) {
  const auto turn = co_await changes_.take();
  co_return co_await change_in_turn(std::move(settings), by);
}

Task<Result<>> Gateway::change_in_turn(Settings settings, ChangedBy by) {
  if (!vault_loaded_) {
    if (auto loaded = co_await vault_->load(); !loaded) co_return loaded;
    vault_loaded_ = true;
  }
  const auto before = tables_.get();
  // A paused upstream is not served.
  std::erase_if(settings, [](const providers::UpstreamSettings& each) { return !each.enabled; });
  std::vector<ServedUpstream> order;
  std::vector<ServedUpstream> fresh;
  std::vector<catalog::UpstreamName> names;
  names.reserve(locals_.size() + settings.size());
  for (const auto& local : locals_)
    names.push_back(local->name());
  for (const auto& each : settings) {
    names.emplace_back(each.name);
    const ServedUpstream* known = before->find(each.name);
    const bool same = known != nullptr && (*known)->settings() == each;
    if (same && (*known)->waits_for_callers() == waits_for_callers(each)) {
      order.push_back(*known);
      continue;
    }
    auto pins = co_await pins_for(each, known);
    if (!pins) co_return std::unexpected(std::move(pins.error()).within(fmt::format("upstream {}", each.name)));
    auto made = make(each, std::move(*pins));
    if (!made) co_return std::unexpected(std::move(made.error()).within(fmt::format("upstream {}", each.name)));
    order.push_back(*made);
    fresh.push_back(std::move(*made));
  }

  oauth_servers_->set_upstreams(settings);
  Kept kept = co_await kept_lists(fresh);
  // In the background, because the upstreams that leave decide how many names there are.
  auto ordered =
      co_await background_threads_.run([this, names = std::move(names)] { return catalog_.set_order(names); });
  if (!ordered) co_return std::unexpected(ordered.error());
  tables_.set(std::make_shared<const UpstreamTable>(order, locals_));
  announce(*ordered, by);
  if (before->locals.empty()) {
    for (const auto& local : locals_) {
      if (auto offered = local->snapshot()) (void)catalog_.publish(std::move(offered));
    }
  }
  for (const auto& served : before->order) {
    if (std::ranges::none_of(order, [&](const auto& other) { return other.instance == served.instance; })) {
      const bool replaced = tables_.get()->find(served->settings().name) != nullptr;
      log::info("upstream {} {}", served->settings().label(), replaced ? "starts anew: its settings changed" : "left");
      background_.spawn("ending an upstream", retire(served));
    }
  }
  for (const auto& served : fresh) {
    const auto taken = co_await take_over(served, before, kept);
    // Lists restored at start-up are not a change. Later the upstream is new, and so are its lists.
    if (taken && ended_left_) announce(*taken, by);
    served->start();
  }
  co_await share_watching(fresh);
  followed_.upstreams_changed();
  look_ = true;
  share_followed();
  if (!std::exchange(ended_left_, true)) parked_sessions_.end_left(tables_.get(), http_of(control()));
  co_return Result<>{};
}

Result<> Gateway::publish_local(catalog::SnapshotPointer snapshot) {
  auto publication = catalog_.publish(std::move(snapshot));
  if (!publication) return std::unexpected(publication.error());
  asio::post(control(),
             [this, publication = std::move(*publication)] { announce(publication, ChangedBy::this_process); });
  return {};
}

Task<Gateway::Kept> Gateway::kept_lists(const std::vector<ServedUpstream>& upstreams) {
  Kept kept;
  if (upstreams.empty()) co_return kept;
  // If an operator registers one upstream, only its own lists are read.
  auto records = upstreams.size() == 1 ? co_await store_.snapshots_of(upstreams.front()->settings().name)
                                       : co_await store_.snapshots();
  if (!records) {
    log::warning("the stored lists of upstreams cannot be read: {}", records.error().message());
    for (const auto& served : upstreams)
      unread_.insert(served->settings().name);
    co_return kept;
  }
  for (auto& record : *records)
    kept[record.upstream].push_back(std::move(record));
  co_return kept;
}

// Serves an upstream's stored lists until it answers, or what the instance before had if none could be read. Without
// either, it offers nothing until then: what is still served has been shaped by settings that no longer hold. An
// upstream that is listed live has no lists.
Task<std::optional<catalog::Publication>> Gateway::take_over(ServedUpstream served,
                                                             std::shared_ptr<const UpstreamTable> before, Kept& kept) {
  if (!served->is_direct()) {
    auto& records = kept[served->settings().name];
    const ServedUpstream* const known = before->find(served->settings().name);
    const bool is_stored = !records.empty();
    if (!is_stored && known != nullptr)
      records = co_await asio::co_spawn((*known)->io(), (*known)->lists_now(), asio::use_awaitable);
    auto restored = records.empty() ? std::nullopt : co_await served->restore(std::move(records));
    if (restored && !is_stored) served->forget_kept();
    if (restored || !catalog_.current()->find(served->name())) co_return restored;
  }
  auto emptied = catalog_.publish(std::make_shared<const catalog::Snapshot>(
      served->name(), first_version(served.instance), catalog::Snapshot::Lists{}));
  if (!emptied) co_return std::nullopt;
  co_return std::move(*emptied);
}

void Gateway::announce(const catalog::Publication& publication, ChangedBy by) {
  fanout_.publish(publication);
  if (by == ChangedBy::this_process && on_changed_ && !publication.changes.empty()) on_changed_(publication);
}

Task<> Gateway::retire(ServedUpstream served) {
  co_await asio::co_spawn(served->io(), served->close(), asio::use_awaitable);
}

Task<Result<>> Gateway::started() {
  const auto table = tables_.get();
  for (const auto& served : table->order) {
    auto tried = co_await asio::co_spawn(served->io(), served->first_try(), asio::use_awaitable);
    if (!tried && served->settings().fail_fast_on_startup) {
      co_return std::unexpected(
          std::move(tried.error())
              .within(fmt::format("upstream {} must be there at the start", served->settings().label())));
    }
  }
  co_return Result<>{};
}

void Gateway::drop_unused_since(Clock::Monotonic time) {
  endpoint_->sessions().end_idle();
  listeners_.end_expired(clock_.wall());
  if (on_expiry_) on_expiry_(clock_.wall());
  identities_->drop_unused();
  for (const auto& part : parts_)
    asio::post(part->io(), [worker = part.get(), time] { worker->drop_unused_since(time); });
  service_->remembered().drop_expired();
  for (const auto& local : tables_.get()->locals)
    local->drop_unused_since(time);
  asio::post(control(), [this] {
    background_.spawn("tidying up", parked_sessions_.tidy());
    for (const auto& name : std::set(unkept_))
      keep_soon(name);
    for (const auto& name : std::exchange(unread_, {}))
      background_.spawn("reading stored lists again", take_unread(name));
  });
}

void Gateway::forget(const std::string& principal) {
  for (const auto& part : parts_)
    asio::post(part->io(), [worker = part.get(), principal] { worker->forget(principal); });
}

void Gateway::end_streams() { endpoint_->end_streams(); }

void Gateway::stop() {
  end_streams();
  service_->parked().close();
  // Two rounds: by then, what workers posted to each other about the ended streams has arrived.
  for (std::size_t i = 0; i < 2 * parts_.size(); ++i)
    asio::post(parts_[i % parts_.size()]->io(), asio::use_future).get();
  const auto end_upstreams = [](Gateway& gateway) -> Task<> {
    gateway.stopping_ = true;
    co_await gateway.fanout_.stop();
    for (const auto& served : gateway.tables_.get()->order)
      gateway.background_.spawn("ending an upstream", gateway.retire(served));
    co_await gateway.identities_->close();
    co_await gateway.parked_sessions_.stop();
    co_await gateway.background_.join();
    co_await gateway.vault_->close();
  };
  asio::co_spawn(control(), end_upstreams(*this), asio::use_future).get();
  for (const auto& part : parts_)
    asio::co_spawn(part->io(), part->close(), asio::use_future).get();
  // No call is parked any more, and no session is left.
  asio::co_spawn(control(), parked_sessions_.tidy(), asio::use_future).get();
}

}  // namespace proteus::gateway
