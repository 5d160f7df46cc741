#include "server/core/session.hpp"

#include <algorithm>
#include <vector>

#include "json/text.hpp"
#include "mcp/notifications.hpp"

namespace proteus::server {
namespace {

// Streams that a session keeps for a client that may reconnect for the rest of one.
constexpr std::size_t kKeptStreams = 64;
constexpr std::size_t kMaxSubscriptions = 1'000;  // the limit for a modern listen stream, too

}  // namespace

bool InFlight::add(std::string_view id, std::shared_ptr<Cancellation> cancellation) {
  const std::scoped_lock lock(mutex_);
  const auto [at, added] = running_.emplace(id, std::move(cancellation));
  if (added && closed_) at->second->request(*closed_);
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
  closed_ = reason;
  for (const auto& [id, cancellation] : running_)
    cancellation->request(reason);
}

bool InFlight::empty() const {
  const std::scoped_lock lock(mutex_);
  return running_.empty();
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
  is_over_ = what == Record::removed;
  if (records_ != nullptr && is_over_) records_->remove(id_.value(), holder_);
  records_ = nullptr;
}

bool Session::is_over() const {
  const std::scoped_lock lock(record_mutex_);
  return is_over_;
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

Session::Subscribed Session::subscribe(std::string uri) {
  {
    const std::scoped_lock lock(mutex_);
    if (subscriptions_.contains(uri)) return Subscribed::already;
    if (subscriptions_.size() >= kMaxSubscriptions) return Subscribed::full;
    if (follows_ != nullptr) follows_->follow(uri);
    subscriptions_.insert(std::move(uri));
  }
  write_record();
  return Subscribed::added;
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
  in_flight_.cancel_all(reason.empty() ? "the session has ended" : reason);
  client_requests_->end();
  outside_->end();
}

bool Session::is_in_use() {
  if (hears() || !in_flight_.empty()) return true;
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
  outside_->send(std::string(notification.text));
}

std::shared_ptr<const Caller> Session::caller() const {
  const std::scoped_lock lock(caller_mutex_);
  return caller_;
}

void Session::renew(const Caller& caller) {
  if (caller.until > until_.load()) until_ = caller.until;
  // `caller_` keeps its grant alive, so no other grant can have the same address.
  if (caller.grant.get() == grant_.load(std::memory_order_acquire)) return;
  auto next = std::make_shared<const Caller>(caller);
  const std::scoped_lock lock(caller_mutex_);
  grant_.store(next->grant.get(), std::memory_order_release);
  caller_.swap(next);
}

void Session::end() { outside_->disconnect(); }

}  // namespace proteus::server
