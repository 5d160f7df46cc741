#include <algorithm>
#include <vector>

#include "base/log/log.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "server/core/session.hpp"

namespace proteus::server {
namespace {

constexpr auto kSweepInterval = std::chrono::seconds(30);
// Limits the sweeps that a caller can cause by retrying while there is no free place.
constexpr auto kSweepWhenFull = std::chrono::seconds(1);
// The call may have had an effect.
constexpr const char* kStops = "this server stops, and nobody knows whether the request was carried out";

}  // namespace

Sessions::Shard& Sessions::shard(std::string_view id) {
  return shards_[std::hash<std::string_view>{}(id) % shards_.size()];
}

Result<SessionPlaces::Place> Sessions::take_place(const std::string& principal, const std::string& id) {
  // Sessions are added only here, so this is where idle ones have to be ended.
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
  // Before anybody can find and end the session, because a record that is written later would let it come back.
  if (holder) session->keep_record(*records_, std::move(*holder));
  {
    Shard& home = shard(id);
    const std::scoped_lock lock(home.mutex);
    const auto now = clock_.now();
    home.entries.emplace(id, Entry{session, listeners_.add(*session), now, std::move(place), now});
  }
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
  if (on_adopt_ && record.state) on_adopt_(*session, *record.state);
  return add(std::move(session), std::move(*place), record.holder);
}

Task<Result<bool>> Sessions::make_sure(std::shared_ptr<Session> session) {
  const auto holder = session->holder();
  if (!holder) co_return is_here(*session);
  const std::string& id = session->id().value();
  const SessionRecord record = session->record();
  const auto held = co_await records_->hold(id, record);
  if (!held) co_return std::unexpected(held.error());
  is_unsure_ = false;
  // The session may have changed meanwhile, and `hold` may have overwritten the newer record.
  if (*held && session->record() != record) session->write_record();
  // The session may have ended meanwhile, and `hold` may have written its record again.
  if (session->is_over()) records_->remove(id, *holder);
  if (!*held) drop(*session);
  co_return is_here(*session);
}

bool Sessions::is_here(const Session& session) {
  Shard& home = shard(session.id().value());
  const std::scoped_lock lock(home.mutex);
  const auto found = home.entries.find(session.id().value());
  return found != home.entries.end() && found->second.session.get() == &session;
}

void Sessions::drop(const Session& session) {
  Entry dropped;
  {
    Shard& home = shard(session.id().value());
    const std::scoped_lock lock(home.mutex);
    const auto found = home.entries.find(session.id().value());
    if (found == home.entries.end() || found->second.session.get() != &session) return;
    dropped = std::move(found->second);
    home.entries.erase(found);
  }
  log::info("a session was taken over by another process, which took this one for dead");
  leave(*dropped.session, "another process of this gateway has taken this session over");
}

std::size_t Sessions::hand_over() {
  std::size_t used = 0;
  std::vector<Entry> given;
  for (auto& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    for (auto next = home.entries.begin(); next != home.entries.end();) {
      const auto current = next++;
      const auto& session = current->second.session;
      if (!session->holder()) continue;
      // Each running request has one more reference. No reference is given out without the lock.
      if (session.use_count() > 1) {
        ++used;
        continue;
      }
      given.push_back(std::move(current->second));
      home.entries.erase(current);
    }
  }
  for (auto& [session, registration, last_used, place, began, is_used] : given) {
    const SessionRecord record = session->record();
    leave(*session);
    // Released only now, because a session at an upstream must have one user at a time.
    records_->release(session->id().value(), record);
  }
  return used;
}

void Sessions::leave(Session& session, const std::string& reason) {
  session.end_record(Session::Record::left);
  session.leave();
  if (on_leave_) on_leave_(session);
  session.close(reason);
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
  found->second.last_used = clock_.recent();
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
      if (entry.session->is_in_use()) {
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
  for (auto& entry : ended)
    entry.session->holder() ? leave(*entry.session, kStops) : entry.session->close(kStops);
}

}  // namespace proteus::server
