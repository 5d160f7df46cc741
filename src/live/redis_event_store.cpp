#include "live/redis_event_store.hpp"

#include <algorithm>
#include <charconv>
#include <deque>

#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::live {

using server::EventStreamId;
using server::KeptEvent;
using server::LeftStream;

namespace {

constexpr std::string_view kRequest = "r";
constexpr unsigned kMostLeftOut = 1000;  // events that are skipped before a stream is sent as a whole again

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

// Keeps only the events after the last gap.
void drop_before_gap(std::vector<KeptEvent>& events) {
  std::ranges::sort(events, {}, &KeptEvent::number);
  const auto gap = std::ranges::adjacent_find(
      events.rbegin(), events.rend(),
      [](const auto& later, const auto& earlier) { return later.number != earlier.number + 1; });
  if (gap != events.rend()) events.erase(events.begin(), gap.base() - 1);
}

}  // namespace

RedisEventStore::RedisEventStore(redis::Client& client, LiveKeys keys, Options options)
    : client_(client),
      keys_(std::move(keys)),
      options_(options),
      expiry_(std::to_string(options.expiry.count())),
      memory_(options.limits) {
  memory_.set_on_given_up([this](const EventStreamId& stream, std::uint64_t number) { give_up(stream, number); });
}

std::string RedisEventStore::name_of(const EventStreamId& stream) {
  return fmt::format("{:x} {}", stream.stream, stream.session);
}

// Calls for one stream do not overlap.
void RedisEventStore::append(const EventStreamId& stream, std::uint64_t number, std::string_view message) {
  memory_.append(stream, number, message);
  const std::string name = name_of(stream);
  const std::uint64_t connection = client_.connection();
  const std::uint64_t refused = client_.refused();
  Shard& home = shard_of(name);
  {
    const std::scoped_lock lock(home.mutex);
    Copy& copy = home.copies[name];
    if (copy.key.empty()) copy.key = keys_.events(stream.session, stream.stream);
    if (connection == 0) copy.connection = 0;
    if (connection != 0 && copy.connection == connection) {
      // What Redis has refused may be of this stream.
      if (copy.refused != refused || !send(copy, {{number, std::string(message)}}, Before::keep)) {
        copy.fail(connection);
      } else {
        copy.left_out = 0;
      }
    }
    if (copy.connection == connection || copy.waits(connection)) return;
  }
  // Not under the lock, because the memory takes that lock while it holds its own.
  const auto kept = memory_.kept_after(stream, 0).value_or(std::vector<KeptEvent>());
  const std::scoped_lock lock(home.mutex);
  const auto copy = home.copies.find(name);
  if (copy == home.copies.end()) return;
  if (!send(copy->second, kept, Before::remove)) return copy->second.fail(connection);
  copy->second.connection = connection;
  copy->second.refused = refused;
}

void RedisEventStore::Copy::fail(std::uint64_t over) {
  connection = 0;
  failed = over;
  left_out = std::min(2 * left_out + 1, kMostLeftOut);
  still = left_out;
}

bool RedisEventStore::Copy::waits(std::uint64_t over) {
  if (failed != over) left_out = still = 0;
  if (still == 0) return false;
  --still;
  return true;
}

void RedisEventStore::begin(const EventStreamId& stream, std::string_view request) {
  std::string name = name_of(stream);
  Shard& home = shard_of(name);
  const std::scoped_lock lock(home.mutex);
  Copy& copy = home.copies[std::move(name)];
  copy.key = keys_.events(stream.session, stream.stream);
  copy.request = request;
  const std::uint64_t connection = client_.connection();
  copy.refused = client_.refused();
  copy.connection = connection != 0 && send(copy, {}, Before::keep) ? connection : 0;
}

// Sends all events in one command, and another command that sets the expiry.
bool RedisEventStore::send(const Copy& copy, const std::vector<KeptEvent>& events, Before before) {
  std::vector<redis::Words> commands;
  if (before == Before::remove) commands.push_back({"UNLINK", copy.key});
  std::deque<std::string> texts;
  redis::Words set = {"HSET", copy.key};
  if (!copy.request.empty()) {
    set.push_back(kRequest);
    set.push_back(texts.emplace_back(keys_.seal(copy.request, copy.key, kRequest)));
  }
  for (const KeptEvent& event : events) {
    // An event that is left out is a gap to readers.
    if (!fits(event.message)) continue;
    const std::string& number = texts.emplace_back(std::to_string(event.number));
    set.push_back(number);
    set.push_back(texts.emplace_back(keys_.seal(event.message, copy.key, number)));
  }
  if (set.size() > 2) {
    commands.push_back(std::move(set));
    commands.push_back({"PEXPIRE", copy.key, expiry_});
  }
  return commands.empty() || client_.post(commands);
}

void RedisEventStore::give_up(const EventStreamId& stream, std::uint64_t number) {
  std::string name = name_of(stream);
  Shard& home = shard_of(name);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.copies.find(name);
  if (found == home.copies.end() || found->second.connection == 0) return;
  const std::string field = std::to_string(number);
  if (!client_.post(redis::Words{"HDEL", found->second.key, field})) found->second.fail(found->second.connection);
}

Task<Result<std::vector<KeptEvent>>> RedisEventStore::read_after(EventStreamId stream, std::uint64_t number) {
  return memory_.read_after(std::move(stream), number);
}

void RedisEventStore::forget(const EventStreamId& stream) { let_go(stream, Then::remove); }

void RedisEventStore::leave(const EventStreamId& stream) { let_go(stream, Then::keep); }

void RedisEventStore::let_go(const EventStreamId& stream, Then then) {
  memory_.forget(stream);
  const std::string name = name_of(stream);
  Shard& home = shard_of(name);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.copies.find(name);
  if (found == home.copies.end()) return;
  if (then == Then::remove) client_.post(redis::Words{"UNLINK", found->second.key});
  home.copies.erase(found);
}

Task<Result<std::optional<LeftStream>>> RedisEventStore::read_left(EventStreamId stream) {
  const std::string key = keys_.events(stream.session, stream.stream);
  const auto reply = co_await client_.ask({"HGETALL", key});
  if (!reply) co_return std::unexpected(reply.error());
  if (reply->elements.empty()) co_return std::nullopt;
  LeftStream left;
  bool forged = false;
  for (std::size_t i = 0; i + 1 < reply->elements.size(); i += 2) {
    const std::string& field = reply->elements[i].text;
    auto opened = keys_.open(reply->elements[i + 1].text, key, field);
    if (!opened) {
      forged = true;
    } else if (field == kRequest) {
      left.request = std::move(*opened);
    } else if (const auto number = number_of(field)) {
      left.events.push_back({*number, std::move(*opened)});
    }
  }
  if (forged) log::warning("Redis has events that no process with this pepper wrote: they are left out");
  drop_before_gap(left.events);
  if (left.request.empty() && left.events.empty()) co_return std::nullopt;
  co_return left;
}

}  // namespace proteus::live
