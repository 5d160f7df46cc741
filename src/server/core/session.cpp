#include "server/core/session.hpp"

#include <algorithm>
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
      client_requests_(std::make_shared<ClientRequests>(first_request_of(epoch_))),
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

void Session::keep_record(SessionRecords& records, SessionRecord::Holder holder) {
  {
    const std::scoped_lock lock(record_mutex_);
    records_ = &records;
    holder_ = std::move(holder);
  }
  write_record();
}

void Session::end_record(Record what) {
  const std::scoped_lock lock(record_mutex_);
  if (records_ != nullptr && what == Record::removed) records_->remove(id_.value(), holder_);
  records_ = nullptr;
}

std::optional<SessionRecord::Holder> Session::holder() const {
  const std::scoped_lock lock(record_mutex_);
  return records_ != nullptr ? std::optional(holder_) : std::nullopt;
}

SessionRecord Session::record() const {
  const std::scoped_lock lock(record_mutex_);
  return record_now();
}

SessionRecord Session::record_now() const {
  return {.holder = holder_,
          .log_level = log_level_,
          .client_info = hello_.client_info,
          .subscriptions = subscriptions(),
          .state = state_};
}

// In the order of what was changed.
void Session::write_record() {
  const std::scoped_lock lock(record_mutex_);
  if (records_ != nullptr) records_->put(id_.value(), record_now());
}

void Session::set_state(std::optional<std::string> state) {
  const std::scoped_lock lock(record_mutex_);
  if (state == state_) return;
  state_ = std::move(state);
  if (records_ != nullptr) records_->put(id_.value(), record_now());
}

void Session::set_log_level(mcp::LogLevel level) {
  if (log_level_.exchange(level) != level) write_record();
}

bool Session::subscribe(std::string uri) {
  {
    const std::scoped_lock lock(mutex_);
    if (subscriptions_.contains(uri)) return true;
    if (subscriptions_.size() >= kMaxSubscriptions) return false;
    if (follows_ != nullptr) follows_->follow(uri);
    subscriptions_.insert(std::move(uri));
  }
  write_record();
  return true;
}

std::vector<std::string> Session::subscriptions() const {
  const std::scoped_lock lock(mutex_);
  return {subscriptions_.begin(), subscriptions_.end()};
}

void Session::unsubscribe(const std::string& uri) {
  {
    const std::scoped_lock lock(mutex_);
    if (subscriptions_.erase(uri) == 0) return;
    if (follows_ != nullptr) follows_->unfollow(uri);
  }
  write_record();
}

std::shared_ptr<ReplayStream> Session::new_stream(std::string_view requests) {
  const std::scoped_lock lock(mutex_);
  while (streams_.size() >= kKeptStreams) {
    const auto finished = std::ranges::find_if(streams_, [](const auto& stream) { return stream->finished(); });
    if (finished == streams_.end()) break;
    streams_.erase(finished);
  }
  const EventStreamId id{id_.value(), ++last_stream_};
  if (events_ != nullptr && !requests.empty()) events_->begin(id, requests);
  return streams_.emplace_back(std::make_shared<ReplayStream>(id, events_));
}

std::shared_ptr<ReplayStream> Session::find_stream(std::uint64_t id) {
  if (id == first_stream()) return standalone_;
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(streams_, id, &ReplayStream::id);
  return found == streams_.end() ? nullptr : *found;
}

Task<Result<std::optional<LeftStream>>> Session::read_left(std::uint64_t stream) const {
  return events_->read_left({id_.value(), stream});
}

void Session::leave() {
  standalone_->leave();
  const std::scoped_lock lock(mutex_);
  for (const auto& stream : streams_)
    stream->leave();
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

Result<SessionPlaces::Place> Sessions::take_place(const std::string& principal, const std::string& id) {
  // Sessions grow in number here only, so this is where idle ones have to go.
  auto place = places_.take(principal, id);
  if (clock_.now() - last_sweep_.load() > (place ? kSweepInterval : kSweepWhenFull)) {
    end_idle(place ? limits_.idle : std::min(limits_.idle, limits_.unused));
    if (!place) place = places_.take(principal, id);
  }
  return place;
}

Result<std::shared_ptr<Session>> Sessions::add(std::shared_ptr<Session> session, SessionPlaces::Place place,
                                               std::optional<SessionRecord::Holder> holder) {
  const std::string& id = session->id().value();
  {
    Shard& home = shard(id);
    const std::scoped_lock lock(home.mutex);
    const auto now = clock_.now();
    home.entries.emplace(id, Entry{session, listeners_.add(*session), now, std::move(place), now});
  }
  if (holder) session->keep_record(*records_, std::move(*holder));
  if (session->caller()->holds()) return session;
  remove(id, session->hello().caller);
  return std::unexpected(errors::unauthenticated("the credentials were withdrawn"));
}

Result<std::shared_ptr<Session>> Sessions::create(Session::Hello hello, std::shared_ptr<SessionLine> line) {
  ClientSessionId id(ids_ == nullptr ? base64_encode(random_bytes(24), Base64::url)
                                     : ids_->mint(hello.caller, hello.version, hello.client_capabilities));
  auto place = take_place(hello.caller.principal, id.value());
  if (!place) return std::unexpected(place.error());
  std::optional<SessionRecord::Holder> holder;
  if (records_ != nullptr && ids_ != nullptr && !line) holder = {ids_->self(), 1};
  auto session = std::make_shared<Session>(std::move(id), std::move(hello), &events_, std::move(line), &listeners_,
                                           ids_ == nullptr ? 0 : new_epoch());
  return add(std::move(session), std::move(*place), std::move(holder));
}

Result<std::shared_ptr<Session>> Sessions::adopt(std::string id, Session::Hello hello, const SessionRecord& record) {
  auto place = take_place(hello.caller.principal, id);
  if (!place) return std::unexpected(place.error());
  hello.client_info = record.client_info;
  auto session = std::make_shared<Session>(ClientSessionId(std::move(id)), std::move(hello), &events_, nullptr,
                                           &listeners_, new_epoch());
  session->set_log_level(record.log_level);
  for (const auto& uri : record.subscriptions)
    session->subscribe(uri);
  session->set_state(record.state);
  return add(std::move(session), std::move(*place), record.holder);
}

void Sessions::drop(const ClientSessionId& id) {
  Entry dropped;
  {
    Shard& home = shard(id.value());
    const std::scoped_lock lock(home.mutex);
    const auto found = home.entries.find(id.value());
    if (found == home.entries.end()) return;
    dropped = std::move(found->second);
    home.entries.erase(found);
  }
  dropped.session->end_record(Session::Record::left);
  dropped.session->leave();
  dropped.session->close("another process of this gateway has taken this session over");
}

void Sessions::end(Entry& entry, const std::string& reason) {
  entry.session->end_record(Session::Record::removed);
  entry.session->close(reason);
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
  end(removed);
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
    end(entry);
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
  end(ended, reason);
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
    end(entry, reason);
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
    end(ended, reason);
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
  for (auto& entry : ended) {
    if (entry.session->holder()) entry.session->leave();
    entry.session->close();
  }
}

}  // namespace proteus::server
