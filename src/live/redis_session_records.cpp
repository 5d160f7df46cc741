#include "live/redis_session_records.hpp"

#include <charconv>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::live {

using server::SessionRecord;

namespace {

constexpr std::size_t kTermText = 16;
constexpr std::size_t kHolderText = kTermText + kProcessKeyText;

// Stores the record if there is none yet, one of the same holder, or one of an earlier term.
constexpr std::string_view kPut =
    "local v = redis.call('GET', KEYS[1]) "
    "if v and string.sub(v, 1, #ARGV[1]) ~= ARGV[1] and string.sub(v, 1, 16) >= string.sub(ARGV[1], 1, 16) "
    "then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1";
// Stores the record only over one of the previous holder.
constexpr std::string_view kReplace =
    "local v = redis.call('GET', KEYS[1]) "
    "if not v or string.sub(v, 1, #ARGV[1]) ~= ARGV[1] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1";
constexpr std::string_view kRemove =
    "local v = redis.call('GET', KEYS[1]) "
    "if v and string.sub(v, 1, #ARGV[1]) == ARGV[1] then return redis.call('UNLINK', KEYS[1]) end return 0";

std::string text_of(const SessionRecord::Holder& holder) {
  return fmt::format("{:016x}{}", holder.term, to_text(holder.process));
}

std::optional<SessionRecord::Holder> read_holder(std::string_view text) {
  if (text.size() < kHolderText) return std::nullopt;
  SessionRecord::Holder holder;
  const char* const begin = text.data();
  const auto [stop, status] = std::from_chars(begin, begin + kTermText, holder.term, 16);
  if (status != std::errc{} || stop != begin + kTermText) return std::nullopt;
  holder.process = read_process_key(text.substr(kTermText));
  if (holder.process.value().empty()) return std::nullopt;
  return holder;
}

std::string body_of(const SessionRecord& record) {
  boost::json::array uris;
  for (const auto& uri : record.subscriptions)
    uris.emplace_back(uri);
  boost::json::object body{
      {"level", mcp::to_string(record.log_level)}, {"client", record.client_info}, {"subscriptions", std::move(uris)}};
  if (record.state) body.emplace("state", *record.state);
  return boost::json::serialize(body);
}

// The text was sealed by one of our processes, but perhaps by another version.
std::optional<SessionRecord> read_body(std::string_view text, SessionRecord::Holder holder) {
  const auto parsed = json::parse(text);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto& body = parsed->get_object();
  const auto string_at = [&body](std::string_view name) -> std::optional<std::string> {
    const auto* const value = body.if_contains(name);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return std::string(value->get_string());
  };
  SessionRecord record{.holder = std::move(holder), .state = string_at("state")};
  record.log_level = mcp::parse_log_level(string_at("level").value_or("")).value_or(mcp::LogLevel::info);
  record.client_info = string_at("client").value_or("");
  if (const auto* const uris = body.if_contains("subscriptions"); uris != nullptr && uris->is_array()) {
    for (const auto& uri : uris->get_array()) {
      if (uri.is_string()) record.subscriptions.emplace_back(uri.get_string());
    }
  }
  return record;
}

Result<bool> is_done(const Result<redis::Reply>& reply) {
  if (!reply) return std::unexpected(reply.error());
  return reply->number == 1;
}

}  // namespace

RedisSessionRecords::RedisSessionRecords(redis::Client& client, LiveKeys keys, Options options)
    : client_(client), keys_(std::move(keys)), options_(options), expiry_(std::to_string(options.expiry.count())) {}

std::string RedisSessionRecords::write(const std::string& key, const SessionRecord& record) const {
  const std::string holder = text_of(record.holder);
  std::string body = body_of(record);
  if (body.size() > options_.bytes) body = body_of({.holder = record.holder, .state = std::nullopt});
  return holder + keys_.seal(body, key, holder);
}

void RedisSessionRecords::put(const std::string& id, const SessionRecord& record) {
  const std::string key = keys_.session(id);
  const std::string holder = text_of(record.holder);
  const std::string text = write(key, record);
  client_.post(redis::Words{"EVAL", kPut, "1", key, holder, text, expiry_});
}

void RedisSessionRecords::remove(const std::string& id, const SessionRecord::Holder& holder) {
  const std::string key = keys_.session(id);
  const std::string text = text_of(holder);
  // A connection that has just ended still takes commands.
  const std::uint64_t connection = client_.connection();
  const bool sent = client_.post(redis::Words{"EVAL", kRemove, "1", key, text});
  const std::scoped_lock lock(mutex_);
  // Redis has received most of what was sent.
  if (removals_.size() >= options_.removals && sent)
    std::erase_if(removals_, [&](const auto& entry) { return entry.second.connection == connection; });
  if (removals_.size() < options_.removals)
    removals_.insert_or_assign(id, Removal{holder, sent ? connection : 0, clock_.now()});
}

Task<bool> RedisSessionRecords::remove_again() {
  const std::uint64_t connection = client_.connection();
  const Removals pending = removals();
  if (pending.empty()) co_return true;
  // Redis answers in order: over the same connection, it has received everything that was sent before.
  if (!co_await client_.ask({"PING"})) co_return false;
  const bool is_same = connection != 0 && client_.connection() == connection;
  for (const auto& [id, removal] : pending) {
    const bool received = is_same && removal.connection == connection;
    const bool expired = clock_.now() - removal.at >= options_.expiry;
    if (!received && !expired &&
        !co_await client_.ask({"EVAL", std::string(kRemove), "1", keys_.session(id), text_of(removal.holder)}))
      co_return false;
    forget(id, removal);
  }
  co_return true;
}

// `holder` is null if the record cannot be read.
bool RedisSessionRecords::is_removed(const std::string& id, const SessionRecord::Holder* holder) const {
  const std::scoped_lock lock(mutex_);
  const auto found = removals_.find(id);
  return found != removals_.end() && (holder == nullptr || found->second.holder == *holder);
}

RedisSessionRecords::Removals RedisSessionRecords::removals() const {
  const std::scoped_lock lock(mutex_);
  return removals_;
}

void RedisSessionRecords::forget(const std::string& id, const Removal& removal) {
  const std::scoped_lock lock(mutex_);
  const auto found = removals_.find(id);
  if (found != removals_.end() && found->second.at == removal.at) removals_.erase(found);
}

void RedisSessionRecords::release(const std::string& id, const SessionRecord& record) {
  const std::string key = keys_.session(id);
  const std::string before = text_of(record.holder);
  SessionRecord released = record;
  released.holder.process = nobody();
  const std::string text = write(key, released);
  client_.post(redis::Words{"EVAL", kReplace, "1", key, before, text, expiry_});
}

Task<Result<bool>> RedisSessionRecords::hold(std::string id, SessionRecord record) {
  const std::string key = keys_.session(id);
  co_return is_done(
      co_await client_.ask({"EVAL", std::string(kPut), "1", key, text_of(record.holder), write(key, record), expiry_}));
}

Task<Result<bool>> RedisSessionRecords::replace(std::string id, SessionRecord::Holder before, SessionRecord next) {
  const std::string key = keys_.session(id);
  co_return is_done(
      co_await client_.ask({"EVAL", std::string(kReplace), "1", key, text_of(before), write(key, next), expiry_}));
}

Task<Result<std::optional<SessionRecord>>> RedisSessionRecords::read(std::string id) {
  const std::string key = keys_.session(id);
  const auto reply = co_await client_.ask({"GET", key});
  if (!reply && is_removed(id, nullptr)) co_return std::nullopt;
  if (!reply) co_return std::unexpected(reply.error());
  const auto text = reply->string();
  auto holder = text ? read_holder(*text) : std::nullopt;
  if (!holder || is_removed(id, &*holder)) co_return std::nullopt;
  const auto body = keys_.open(text->substr(kHolderText), key, text->substr(0, kHolderText));
  if (!body) co_return std::nullopt;
  co_return read_body(*body, std::move(*holder));
}

}  // namespace proteus::live
