#include "gateway/connections/worker.hpp"

#include <algorithm>
#include <limits>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "base/memory/memory.hpp"
#include "client/connection/transports.hpp"
#include "gateway/callers/credentials.hpp"
#include "gateway/callers/view_spec.hpp"
#include "gateway/connections/programs.hpp"
#include "gateway/connections/upstream_sessions_of_client.hpp"
#include "providers/declaring.hpp"

namespace proteus::gateway {
namespace {

Task<> end_program(std::shared_ptr<UpstreamSession> upstream_session) {
  (void)co_await upstream_session->end_idle_program();
}

constexpr std::size_t kViews = 4096;
constexpr std::size_t kManyViews = 64;
constexpr std::size_t kManyIdentities = 1000;
// Number of sweeps, about two minutes, during which this thread returns memory: what other threads free of it arrives
// late.
constexpr int kGiveBack = 24;
// Handlers do not time out here, because every wait for an answer has its own deadline.
constexpr std::chrono::hours kNeverOfItself{24};
// An idle session is kept for long, because the upstream's state for the caller ends with it.
constexpr std::chrono::minutes kSessionsKept{30};
// For a prepared session that no call has used.
constexpr std::chrono::minutes kPreparedKept{1};
// For callers that only listen and make no requests.
constexpr std::chrono::seconds kListenAgain{60};
// Streams without a listener are kept this much longer than views, which are cheap to rebuild.
constexpr std::chrono::seconds kStreamsKept{50};

}  // namespace

Worker::Worker(boost::asio::io_context& io, const Clock& clock, const catalog::Catalog& catalog,
               const UpstreamTables& tables, const Published<Access>& access, QuotaTable& quotas,
               net::HttpClientOptions http, std::chrono::milliseconds debounce)
    : io_(io),
      clock_(clock),
      debounce_(debounce),
      http_(io, clock, std::move(http)),
      reader_(catalog),
      views_(clock, kViews),
      access_(access),
      tables_(tables),
      quotas_(quotas, clock),
      shared_requests_(io.get_executor()),
      table_(tables_.get()),
      left_behind_(io.get_executor()),
      closing_(io.get_executor()) {}

std::shared_ptr<const catalog::View> Worker::view_with(const server::Caller& caller,
                                                       std::shared_ptr<const OwnLists::Snapshots> alone,
                                                       ViewFor purpose) {
  const ViewSpec view_spec(caller, context_view(caller), std::move(alone), purpose);
  return views_.get(reader_.current(), view_spec.fingerprint(), [&] { return view_spec.layers(); });
}

std::shared_ptr<OwnLists> Worker::own_lists(const server::Caller& caller, server::Session* session) {
  if (session != nullptr) {
    const auto upstream_sessions = UpstreamSessionsOfClient::find(*session);
    return upstream_sessions ? upstream_sessions->lists() : nullptr;
  }
  const Home* const home = homes_.empty() ? nullptr : home_of(caller.principal);
  return home != nullptr ? home->lists : nullptr;
}

std::shared_ptr<const catalog::View> Worker::view(const server::Caller& caller, server::Session* session) {
  const auto own = own_lists(caller, session);
  return view_with(caller, own ? own->get() : nullptr);
}

std::shared_ptr<const catalog::View> Worker::listed_view(const server::Call& call) {
  const auto own = own_lists(call.caller(), call.session());
  return view_with(call.caller(), own ? own->get() : nullptr, ViewFor::list);
}

mcp::CacheScope Worker::cache_scope(const catalog::View& view) {
  // Callers of identity providers become known only when they call, so answers are not shared if they are admitted.
  const bool has_strangers = identities_ && identities_->are_used();
  return view.is_shared() && access_->are_alike() && !has_strangers ? mcp::CacheScope::shared
                                                                    : mcp::CacheScope::per_caller;
}

void Worker::end_calls(const std::function<bool(const server::Caller&)>& whose, const std::string& why) {
  for (server::Call& call : running_) {
    if (whose(call.caller())) call.cancellation().request(why);
  }
}

catalog::SnapshotPointer Worker::snapshot_of(const catalog::UpstreamName& upstream) {
  const auto& state = reader_.current();
  const auto rank = state->ranks().of(upstream);
  return rank ? state->pointer_at(*rank) : nullptr;
}

void Worker::drop_unused_since(Clock::Monotonic time) {
  drop_unused_sessions(time);
  const std::size_t before = views_.size();
  views_.drop_unused_since(time);
  seekers_.drop_unused();
  const std::size_t known = identities_ ? identities_->size() : 0;
  if (identities_) identities_->drop_unused();
  quotas_.drop_idle();
  const bool many_views = views_.size() + kManyViews <= before;
  const bool many_identities = identities_ && identities_->size() + kManyIdentities <= known;
  if (many_views || many_identities) give_back_ = kGiveBack;
  if (give_back_ == 0) return;
  --give_back_;
  give_back_memory();
}

void Worker::drop_unused_sessions(Clock::Monotonic time) {
  std::erase_if(upstream_sessions_, [](const auto& upstream_session) { return upstream_session.expired(); });
  for (const auto& weak : upstream_sessions_) {
    const auto upstream_session = weak.lock();
    if (!upstream_session) continue;
    upstream_session->try_again_after(kListenAgain);
    upstream_session->rest_if_idle(time - kStreamsKept);
    if (upstream_session->used() + upstream_session->program_idle() < now() && upstream_session->holds_idle_program())
      run("ending a program", end_program(upstream_session));
  }
  std::erase_if(by_principal_, [&](const auto& entry) {
    const bool idle = entry.second->used() + kSessionsKept < std::min(time, now());
    return idle && entry.second.use_count() == 1 && home_of(entry.first.first) == nullptr;
  });
  std::erase_if(own_lists_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::erase_if(prepared_,
                [&](const auto& entry) { return entry.second && entry.second->used() + kPreparedKept < time; });
}

std::shared_ptr<UpstreamSession> Worker::longest_idle_session(std::optional<std::uint64_t> instance) {
  std::shared_ptr<UpstreamSession> found;
  for (const auto& weak : upstream_sessions_) {
    auto upstream_session = weak.lock();
    if (!upstream_session || (instance && upstream_session->instance() != *instance) ||
        !upstream_session->holds_idle_program())
      continue;
    if (!found || idle_since(upstream_session) < idle_since(found)) found = std::move(upstream_session);
  }
  return found;
}

Clock::Monotonic Worker::idle_since(const std::shared_ptr<UpstreamSession>& upstream_session) const {
  const auto prepared = prepared_.find(upstream_session->instance());
  return prepared != prepared_.end() && prepared->second == upstream_session ? Clock::Monotonic::min()
                                                                             : upstream_session->used();
}

std::optional<Clock::Monotonic> Worker::longest_idle_program(std::optional<std::uint64_t> instance) {
  const auto upstream_session = longest_idle_session(instance);
  return upstream_session ? std::optional(idle_since(upstream_session)) : std::nullopt;
}

Task<bool> Worker::end_longest_idle_program(std::optional<std::uint64_t> instance) {
  const auto upstream_session = longest_idle_session(instance);
  co_return upstream_session&& co_await upstream_session->end_idle_program();
}

const UpstreamTable& Worker::upstreams() {
  if (table_ != tables_.get()) [[unlikely]] {
    // Callers of this function may still refer to the old table.
    boost::asio::post(io_, [old = std::exchange(table_, tables_.get())] {});
    // Connections to removed upstreams are closed when the last call on them has ended.
    const auto gone = [this](std::uint64_t instance) {
      return std::ranges::none_of(table_->order, [&](const auto& served) { return served.instance == instance; });
    };
    std::erase_if(shared_, [&](const auto& entry) { return gone(entry.first); });
    std::erase_if(by_principal_, [&](const auto& entry) { return gone(entry.first.second); });
    std::erase_if(prepared_, [&](const auto& entry) { return gone(entry.first); });
    seekers_.clear();
    for (const auto& weak : upstream_sessions_) {
      if (const auto upstream_session = weak.lock(); upstream_session && gone(upstream_session->instance()))
        upstream_session->retire();
    }
  }
  return *table_;
}

CallerConnection Worker::shared_connection(const ServedUpstream& upstream) {
  CallerConnection& connection = shared_[upstream.instance];
  if (!connection) {
    client::Options options = upstream->options();
    // Each of the callers that share the connection has limits of its own.
    options.limits.requests = std::numeric_limits<std::size_t>::max();
    connection = connect(upstream, std::move(options));
  }
  return connection;
}

std::shared_ptr<GrantAuthorizer> Worker::authorizer_for(const ServedUpstream& upstream, const server::Caller& caller,
                                                        std::string_view authorization) {
  if (!upstream->is_per_caller() || vault_ == nullptr) return nullptr;
  // A caller's own token is passed on only to be exchanged.
  const bool exchanges = upstream->settings().authentication.oauth.grant == providers::OAuthGrant::token_exchange;
  auto seeker = seekers_.of(caller, upstream.instance, upstream->oauth_target(),
                            exchanges ? credentials_of(authorization).token : std::string_view());
  return seeker ? std::make_shared<GrantAuthorizer>(*vault_, std::move(seeker)) : nullptr;
}

bool Worker::must_sign_in(const ServedUpstream& upstream, const server::Caller& caller) const {
  const auto& oauth = upstream->settings().authentication.oauth;
  // An identity assertion requires that the user has signed in at the identity provider.
  const bool by_person = !oauth.is_automatic() || oauth.grant == providers::OAuthGrant::identity_assertion;
  if (!by_person || vault_ == nullptr) return false;
  const auto owner = owner_of(principal_of(caller));
  return !owner || vault_->state(*owner, GrantTarget(upstream->oauth_target())) != GrantState::connected;
}

std::shared_ptr<GrantAuthorizer> Worker::authorizer_of(const ServedUpstream& upstream, const std::string& principal) {
  if (principal.empty() || vault_ == nullptr) return nullptr;
  const auto configured = access_->principals->find_name(principal);
  const bool is_configured = configured && configured->key() == principal;
  return std::make_shared<GrantAuthorizer>(*vault_, GrantOwner(is_configured ? configured->lasting_key() : principal),
                                           GrantTarget(upstream->oauth_target()));
}

std::shared_ptr<UpstreamSession> Worker::upstream_session_of(const ServedUpstream& upstream,
                                                             const std::string& principal) {
  std::shared_ptr<UpstreamSession>& upstream_session = by_principal_[{principal, upstream.instance}];
  const auto owner = principal.empty() ? client::Owner::strangers : client::Owner::caller;
  if (!upstream_session) upstream_session = make_upstream_session(upstream, owner, observers_(principal), principal);
  return upstream_session;
}

std::shared_ptr<UpstreamSession> Worker::make_upstream_session(const ServedUpstream& upstream, client::Owner owner,
                                                               SessionObserver observer, const std::string& principal) {
  client::Options options = upstream->options();
  // Credentials for the session's own messages, such as listening. Requests have their own.
  if (upstream->is_per_caller()) options.authorizer = authorizer_of(upstream, principal);
  // Declares all capabilities: the handshake is sent once, and each request states what its client can do.
  options.handlers = *providers::declare_everything(providers::refuse_question);
  options.handler_timeout = kNeverOfItself;
  options.owner = owner;
  return UpstreamSession::make(*this, upstream, std::move(options), std::move(observer));
}

std::shared_ptr<UpstreamSession> Worker::fresh_upstream_session(const ServedUpstream& upstream) {
  auto [entry, first] = prepared_.try_emplace(upstream.instance);
  if (upstream->is_first_call_apart()) {
    log::info(
        "upstream {} keeps sessions: each tool call of an anonymous client of the modern era runs in a session of its "
        "own; with anonymous_sessions = \"shared\" they share one",
        upstream->settings().name);
  }
  std::shared_ptr<UpstreamSession> upstream_session = std::exchange(entry->second, nullptr);
  // The call itself needs a place, too, unless its session runs already.
  const std::size_t places = upstream_session && upstream_session->connection()->is_open() ? 1 : 2;
  if (upstream_session || first) run("preparing a session", prepare_session(upstream, places));
  return upstream_session ? upstream_session
                          : make_upstream_session(upstream, client::Owner::caller, SessionObserver::nobody());
}

Task<> Worker::prepare_session(ServedUpstream upstream, std::size_t places) {
  const bool runs_program = std::holds_alternative<net::Command>(upstream->endpoint());
  std::shared_ptr<UpstreamSession> upstream_session;
  if (!runs_program || programs_->has_room(upstream.instance, places)) {
    upstream_session = make_upstream_session(upstream, client::Owner::caller, SessionObserver::nobody());
    if (!co_await upstream_session->connection()->open()) upstream_session = nullptr;
  }
  const auto place = prepared_.find(upstream.instance);
  if (place == prepared_.end()) co_return;
  if (upstream_session) {
    place->second = std::move(upstream_session);
  } else {
    // The next call opens its own session.
    prepared_.erase(place);
  }
}

void Worker::give_up(const ServedUpstream& upstream, const std::string& principal,
                     const std::shared_ptr<UpstreamSession>& upstream_session) {
  const auto found = by_principal_.find({principal, upstream.instance});
  if (found == by_principal_.end() || found->second != upstream_session) return;
  by_principal_.erase(found);
  // Callers that listened on it keep listening on its replacement.
  std::vector<std::string> followed(upstream_session->followed().begin(), upstream_session->followed().end());
  upstream_session->retire();
  if (home_of(principal) == nullptr) return;
  const auto follow = [](std::shared_ptr<UpstreamSession> next, std::vector<std::string> uris) -> Task<> {
    (void)co_await next->follow(std::move(uris));
  };
  run("listening for a caller", follow(upstream_session_of(upstream, principal), std::move(followed)));
}

void Worker::forget(const std::string& principal) {
  const auto first = by_principal_.lower_bound({principal, 0});
  auto last = first;
  for (; last != by_principal_.end() && last->first.first == principal; ++last)
    last->second->retire();
  by_principal_.erase(first, last);
  own_lists_.erase(principal);
}

void Worker::keep(const std::shared_ptr<UpstreamSession>& upstream_session) {
  // Expired entries are removed before the vector grows.
  if (upstream_sessions_.size() == upstream_sessions_.capacity())
    std::erase_if(upstream_sessions_, [](const auto& one) { return one.expired(); });
  upstream_sessions_.push_back(upstream_session);
}

const Home* Worker::home_of(const std::string& principal) const {
  const auto found = homes_.find(principal);
  return found == homes_.end() ? nullptr : &found->second;
}

void Worker::set_home(const std::string& principal, std::optional<Home> home) {
  if (home) {
    homes_.insert_or_assign(principal, std::move(*home));
  } else {
    homes_.erase(principal);
  }
}

void Worker::renew_upstream_sessions(const std::string& principal) {
  for (auto upstream_session = by_principal_.lower_bound({principal, 0});
       upstream_session != by_principal_.end() && upstream_session->first.first == principal; ++upstream_session)
    upstream_session->second->renew();
}

std::shared_ptr<OwnLists> Worker::lists_of(const std::string& principal) {
  std::shared_ptr<OwnLists>& lists = own_lists_[principal];
  if (!lists) lists = std::make_shared<OwnLists>();
  return lists;
}

CallerConnection Worker::connect(const ServedUpstream& upstream, client::Options options) {
  // If the era has changed, requests must not go on in a session that callers share. If only callers' connections reach
  // an upstream, all of them report its era.
  const bool is_shared = options.owner == client::Owner::everybody;
  if ((is_shared || upstream->waits_for_callers()) && !options.era) {
    options.on_agreed = [told = std::move(options.on_agreed),
                         weak = std::weak_ptr(upstream.upstream)](const client::ServerFacts& facts) {
      if (const auto served = weak.lock(); served && served->learn(facts))
        boost::asio::post(served->io(), [served, era = facts.era()] { served->look_again(era); });
      if (told) told(facts);
    };
  }
  auto connection = std::make_unique<client::Connection>(
      io_.get_executor(), client::transports_to(upstream->endpoint(), io_, http_), std::move(options));
  ++open_;
  return {connection.release(), [this](client::Connection* last) {
            boost::asio::post(io_, [this, last] {
              --open_;
              closing_.spawn("closing a connection", end(std::unique_ptr<client::Connection>(last)));
            });
          }};
}

Task<> Worker::end(std::unique_ptr<client::Connection> connection) { co_await connection->close(); }

Task<> Worker::close() {
  left_behind_.cancel();
  co_await left_behind_.join();
  shared_.clear();
  by_principal_.clear();
  prepared_.clear();
  while (open_ > 0 || closing_.size() > 0) {
    co_await closing_.join();
    co_await boost::asio::post(io_, boost::asio::use_awaitable);
  }
  http_.close();
}

}  // namespace proteus::gateway
