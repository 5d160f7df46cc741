#include "server/core/session.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/base64.hpp"
#include "base/sealing.hpp"
#include "json/text.hpp"
#include "mcp/notifications.hpp"

namespace proteus::server {
namespace {

// Streams kept per session for a client that may come back for the end of one.
constexpr std::size_t kKeptStreams = 64;
constexpr std::size_t kMaxSubscriptions = 1'000;  // as many as a modern client may name
constexpr auto kSweepInterval = std::chrono::seconds(30);
// Whoever asks again and again for what there is not does not have all sessions looked at each time.
constexpr auto kSweepWhenFull = std::chrono::seconds(1);

}  // namespace

bool InFlight::add(std::string_view id, std::shared_ptr<Cancellation> cancellation) {
  const std::scoped_lock lock(mutex_);
  const auto [at, added] = running_.emplace(id, std::move(cancellation));
  if (added && closed_) at->second->request();
  return added;
}

void InFlight::remove(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  running_.erase(std::string(id));
}

void InFlight::cancel(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  const auto found = running_.find(std::string(id));
  if (found != running_.end()) found->second->request();
}

void InFlight::cancel_all(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  for (const auto& [id, cancellation] : running_)
    cancellation->request(reason);
}

// So small that a double has room for it and for a million requests (RFC 8259, 6).
Session::Epoch Session::new_epoch() {
  for (;;) {
    Epoch drawn = 0;
    std::memcpy(&drawn, random_bytes(sizeof drawn).data(), sizeof drawn);
    drawn >>= 1U;
    if (drawn != 0) return drawn;
  }
}

Session::Session(ClientSessionId id, Hello hello, EventStore* events, std::shared_ptr<SessionLine> line,
                 Listeners* follows, Epoch epoch)
    : id_(std::move(id)),
      epoch_(epoch),
      hello_(std::move(hello)),
      events_(events),
      until_(hello_.caller.until),
      caller_(std::make_shared<const Caller>(hello_.caller)),
      grant_(hello_.caller.grant.get()),
      standalone_(std::make_shared<ReplayStream>(EventStreamId{id_.value(), first_stream()}, events_)),
      outside_(std::make_shared<SessionStream>(standalone_, std::move(line))),
      client_requests_(std::make_shared<ClientRequests>(std::uint64_t{epoch_} << 20U)),
      follows_(follows),
      last_stream_(first_stream()) {}

Session::~Session() {
  client_requests_->end();
  if (follows_ == nullptr) return;
  for (const auto& uri : subscriptions_)
    follows_->unfollow(uri);
}

std::shared_ptr<void> Session::attachment(const std::function<std::shared_ptr<void>()>& make) {
  const std::scoped_lock lock(mutex_);
  if (!attachment_) attachment_ = make();
  return attachment_;
}

std::shared_ptr<void> Session::attachment() {
  const std::scoped_lock lock(mutex_);
  return attachment_;
}

mcp::legacy::SessionFacts Session::facts() const {
  return {hello_.version, hello_.client_capabilities, hello_.client_info, log_level_.load()};
}

bool Session::subscribe(std::string uri) {
  const std::scoped_lock lock(mutex_);
  if (subscriptions_.contains(uri)) return true;
  if (subscriptions_.size() >= kMaxSubscriptions) return false;
  if (follows_ != nullptr) follows_->follow(uri);
  subscriptions_.insert(std::move(uri));
  return true;
}

std::vector<std::string> Session::subscriptions() {
  const std::scoped_lock lock(mutex_);
  return {subscriptions_.begin(), subscriptions_.end()};
}

void Session::unsubscribe(const std::string& uri) {
  const std::scoped_lock lock(mutex_);
  if (subscriptions_.erase(uri) > 0 && follows_ != nullptr) follows_->unfollow(uri);
}

std::shared_ptr<ReplayStream> Session::new_stream() {
  const std::scoped_lock lock(mutex_);
  while (streams_.size() >= kKeptStreams) {
    const auto finished = std::ranges::find_if(streams_, [](const auto& stream) { return stream->finished(); });
    if (finished == streams_.end()) break;
    streams_.erase(finished);
  }
  return streams_.emplace_back(std::make_shared<ReplayStream>(EventStreamId{id_.value(), ++last_stream_}, events_));
}

std::shared_ptr<ReplayStream> Session::find_stream(std::uint64_t id) {
  if (id == first_stream()) return standalone_;
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(streams_, id, &ReplayStream::id);
  return found == streams_.end() ? nullptr : *found;
}

void Session::close(const std::string& reason) {
  in_flight_.cancel_all(reason);
  client_requests_->end();
  end();
}

bool Session::has_connection() {
  if (hears()) return true;
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(streams_, [](const auto& stream) { return !stream->finished(); });
}

void Session::list_changed(mcp::Method changed) { outside_->announce(mcp::list_changed_notification(changed, {})); }

void Session::resource_updated(std::string_view uri) {
  {
    const std::scoped_lock lock(mutex_);
    if (!subscriptions_.contains(uri)) return;
  }
  outside_->announce(mcp::resource_updated_notification(uri, {}));
}

void Session::pass_on(const json::Message& notification) {
  if (notification.method == mcp::to_string(mcp::Method::log_message)) {
    const auto level = mcp::parse_log_level(json::plain_string(notification.body.value("level")).value_or(""));
    if (!level || *level < log_level_.load()) return;
  } else if (notification.method == mcp::to_string(mcp::Method::elicitation_complete) &&
             hello_.version < mcp::Version::v2025_11_25) {
    return;
  }
  outside_->send(std::string(notification.text), SessionStream::Unheard::dropped);
}

std::shared_ptr<const Caller> Session::caller() const {
  const std::scoped_lock lock(caller_mutex_);
  return caller_;
}

void Session::renew(const Caller& caller) {
  if (caller.until > until_.load()) until_ = caller.until;
  // What is kept is not freed, so that another one cannot be in its place.
  if (caller.grant.get() == grant_.load(std::memory_order_acquire)) return;
  auto next = std::make_shared<const Caller>(caller);
  const std::scoped_lock lock(caller_mutex_);
  grant_.store(next->grant.get(), std::memory_order_release);
  caller_.swap(next);
}

void Session::end() { outside_->end(); }

Sessions::Shard& Sessions::shard(std::string_view id) {
  return shards_[std::hash<std::string_view>{}(id) % shards_.size()];
}

Result<std::shared_ptr<Session>> Sessions::create(Session::Hello hello, std::shared_ptr<SessionLine> line) {
  ClientSessionId id(ids_ == nullptr ? base64_encode(random_bytes(24), Base64::url)
                                     : ids_->mint(hello.caller, hello.version, hello.client_capabilities));
  // Sessions grow in number here only, so this is where idle ones have to go.
  auto place = places_.take(hello.caller.principal, id.value());
  if (clock_.now() - last_sweep_.load() > (place ? kSweepInterval : kSweepWhenFull)) {
    end_idle(place ? limits_.idle : std::min(limits_.idle, limits_.unused));
    if (!place) place = places_.take(hello.caller.principal, id.value());
  }
  if (!place) return std::unexpected(place.error());
  auto session = std::make_shared<Session>(id, std::move(hello), &events_, std::move(line), &listeners_,
                                           ids_ == nullptr ? 0 : Session::new_epoch());
  {
    Shard& home = shard(id.value());
    const std::scoped_lock lock(home.mutex);
    const auto now = clock_.now();
    home.entries.emplace(id.value(), Entry{session, listeners_.add(*session), now, std::move(*place), now});
  }
  if (session->caller()->holds()) return session;
  remove(id.value(), session->hello().caller);
  return std::unexpected(errors::unauthenticated("the credentials were withdrawn"));
}

std::shared_ptr<Session> Sessions::find(std::string_view id, const Caller& caller) {
  Shard& home = shard(id);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.entries.find(std::string(id));
  if (found == home.entries.end() || found->second.session->hello().caller != caller) return nullptr;
  found->second.last_used = clock_.now();
  found->second.is_used = true;
  found->second.session->renew(caller);
  return found->second.session;
}

bool Sessions::remove(std::string_view id, const Caller& caller) {
  Entry removed;
  {
    Shard& home = shard(id);
    const std::scoped_lock lock(home.mutex);
    const auto found = home.entries.find(std::string(id));
    if (found == home.entries.end() || found->second.session->hello().caller != caller) return false;
    removed = std::move(found->second);
    home.entries.erase(found);
  }
  removed.session->close();
  return true;
}

void Sessions::end_idle(std::chrono::seconds unused) {
  const auto now = clock_.now();
  last_sweep_ = now;
  std::vector<Entry> ended;
  for (auto& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    for (auto next = home.entries.begin(); next != home.entries.end();) {
      const auto current = next++;
      Entry& entry = current->second;
      if (now - entry.last_used < (entry.is_used ? limits_.idle : unused)) continue;
      if (entry.session->has_connection()) {
        entry.last_used = now;
        continue;
      }
      ended.push_back(std::move(entry));
      home.entries.erase(current);
    }
  }
  for (auto& entry : ended)
    entry.session->close();
}

std::vector<Sessions::Open> Sessions::all() {
  std::vector<Open> all;
  for (Shard& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    for (const auto& [id, entry] : home.entries)
      all.push_back({entry.session, entry.began, entry.last_used});
  }
  return all;
}

bool Sessions::end(const ClientSessionId& id, const std::string& reason) {
  Entry ended;
  {
    Shard& home = shard(id.value());
    const std::scoped_lock lock(home.mutex);
    const auto found = home.entries.find(id.value());
    if (found == home.entries.end()) return false;
    ended = std::move(found->second);
    home.entries.erase(found);
  }
  ended.session->close(reason);
  return true;
}

std::size_t Sessions::attached() {
  std::size_t count = 0;
  for (Shard& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    count += static_cast<std::size_t>(
        std::ranges::count_if(home.entries, [](auto& entry) { return entry.second.session->hears(); }));
  }
  return count;
}

void Sessions::end(const Listeners::Concerns& concerns, const std::string& reason) {
  std::vector<Entry> ended;
  for (auto& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    for (auto next = home.entries.begin(); next != home.entries.end();) {
      const auto current = next++;
      if (!concerns(*current->second.session->caller())) continue;
      ended.push_back(std::move(current->second));
      home.entries.erase(current);
    }
  }
  for (auto& entry : ended)
    entry.session->close(reason);
}

void Sessions::end_of(const std::string& principal, const Listeners::Concerns& concerns, const std::string& reason) {
  for (const auto& id : places_.ids_of(principal)) {
    Entry ended;
    {
      Shard& home = shard(id);
      const std::scoped_lock lock(home.mutex);
      const auto found = home.entries.find(id);
      if (found == home.entries.end() || !concerns(*found->second.session->caller())) continue;
      ended = std::move(found->second);
      home.entries.erase(found);
    }
    ended.session->close(reason);
  }
}

void Sessions::close_all() {
  std::vector<Entry> ended;
  for (auto& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    for (auto& [id, entry] : home.entries)
      ended.push_back(std::move(entry));
    home.entries.clear();
  }
  for (auto& entry : ended)
    entry.session->close();
}

}  // namespace proteus::server
