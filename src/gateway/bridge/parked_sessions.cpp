#include "gateway/bridge/parked_sessions.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/base64.hpp"
#include "client/transport/streamable_http.hpp"
#include "json/canonical.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

// Prefix of the settings' keys, one setting for each session: `parked_sessions.` and a random part, with a hash of the
// owning process in between if several share the store. Earlier versions had one setting without a suffix for all
// sessions; the first write splits it.
constexpr std::string_view kParkedSessions = "parked_sessions";
constexpr std::size_t kMostBytes = std::size_t{512} * 1024;
constexpr int kTries = 8;
constexpr std::chrono::seconds kFirstPause{1};

std::string url_of(const providers::Upstream& upstream) {
  const bool http = std::holds_alternative<net::Url>(upstream.endpoint());
  return http ? upstream.settings().url : std::string();
}

}  // namespace

ParkedSessions::ParkedSessions(asio::io_context& io, store::Store& store, SealingKey key, std::string self)
    : io_(io), store_(store), key_(key), self_(std::move(self)), wrote_(io.get_executor()), tasks_(io.get_executor()) {}

Task<> ParkedSessions::keep(ServedUpstream upstream, std::shared_ptr<client::Connection> connection) {
  if (!connection) co_return;
  auto session = connection->session();
  if (!session) co_return;
  Session kept{{}, upstream->settings().name, url_of(*upstream.upstream), std::move(*session), connection};
  co_await asio::co_spawn(io_, add(std::move(kept)), asio::use_awaitable);
}

Task<> ParkedSessions::add(Session session) {
  const auto same = [&](const Session& one) {
    return one.session.id == session.session.id && one.upstream == session.upstream;
  };
  if (std::ranges::none_of(sessions_, same)) {
    forget_ended();
    if (bytes_ + session.bytes() > kMostBytes) {
      lines_.warning("upstream {}: too many sessions have calls that wait; one more is not kept", session.upstream);
      co_return;
    }
    add_kept(std::move(session));
    ++wanted_;
  }
  co_await write();
}

// Sessions that are added during a write are stored together by the next one.
Task<> ParkedSessions::write() {
  const std::uint64_t own = wanted_;
  while (written_ < own) {
    if (writing_) {
      co_await wrote_.wait();
      continue;
    }
    writing_ = true;
    const std::shared_ptr<void> end(nullptr, [this](void*) {
      writing_ = false;
      wrote_.ring();
    });
    const std::uint64_t all = wanted_;
    const store::Writes writes = differences();
    if (!writes.empty()) {
      const auto put = co_await store_.write(writes);
      if (put) note_kept(writes);
      if (!put) log::warning("sessions in which calls wait are not kept: {}", put.error().message());
      if (put && writes.size() == store::limits::kWrites) continue;
    }
    written_ = all;
  }
}

// Returns the writes that bring the store up to date; only the first kWrites if there are more.
store::Writes ParkedSessions::differences() const {
  store::Writes writes;
  std::set<std::string_view> keys;
  for (const auto& one : sessions_) {
    keys.insert(one.key);
    if (!kept_.contains(one.key)) writes.emplace_back(store::PutSetting{{one.key, sealed(one)}});
  }
  for (const auto& key : kept_) {
    if (!keys.contains(key)) writes.emplace_back(store::RemoveSetting{key});
  }
  if (writes.size() > store::limits::kWrites) writes.resize(store::limits::kWrites);
  return writes;
}

void ParkedSessions::note_kept(const store::Writes& writes) {
  for (const auto& write : writes) {
    if (const auto* put = std::get_if<store::PutSetting>(&write)) kept_.insert(put->setting.key);
    if (const auto* remove = std::get_if<store::RemoveSetting>(&write)) kept_.erase(remove->key);
  }
}

std::string ParkedSessions::sealed(const Session& session) const {
  const boost::json::value text = {{"upstream", session.upstream},
                                   {"url", session.url},
                                   {"session", session.session.id},
                                   {"version", mcp::to_string(session.session.version)}};
  return base64_encode(key_.seal(boost::json::serialize(text), session.key));
}

void ParkedSessions::add_kept(Session session) {
  if (session.key.empty()) session.key = prefix_of(self_) + base64_encode(random_bytes(12));
  bytes_ += session.bytes();
  sessions_.push_back(std::move(session));
}

bool ParkedSessions::forget_ended() {
  const auto ended = [](const Session& one) { return !one.left && one.connection.expired(); };
  const std::size_t forgotten = std::erase_if(sessions_, ended);
  bytes_ = 0;
  for (const auto& one : sessions_)
    bytes_ += one.bytes();
  return forgotten > 0;
}

Task<> ParkedSessions::tidy() {
  if (!forget_ended()) co_return;
  ++wanted_;
  co_await write();
}

std::string ParkedSessions::prefix_of(const std::string& process) const {
  if (process.empty()) return fmt::format("{}.", kParkedSessions);
  return fmt::format("{}.{}.", kParkedSessions, json::hex(json::sha256(process)).substr(0, 16));
}

Task<Result<std::vector<std::string>>> ParkedSessions::prefixes_of_living() {
  std::vector<std::string> prefixes;
  if (self_.empty()) co_return prefixes;
  prefixes.push_back(prefix_of(self_));
  const auto members = co_await store_.members();
  if (!members) co_return std::unexpected(members.error());
  for (const auto& member : *members) {
    if (!is_gone(member)) prefixes.push_back(prefix_of(member.name));
  }
  co_return prefixes;
}

Task<> ParkedSessions::read_left() {
  // Reads the settings before the members, so that a process that starts meanwhile counts as alive.
  const auto kept = co_await store_.settings(std::string(kParkedSessions));
  if (!kept)
    co_return log::warning("sessions that an ended process left open cannot be read: {}", kept.error().message());
  const auto living = co_await prefixes_of_living();
  if (!living)
    co_return log::warning("sessions that an ended process left open cannot be read: {}", living.error().message());
  for (const auto& setting : *kept) {
    if (std::ranges::any_of(*living, [&](const auto& prefix) { return setting.key.starts_with(prefix); })) continue;
    if (!self_.empty()) {
      co_await claim(setting);
      continue;
    }
    // Settings that cannot be read count as stored, too: the next write removes them.
    kept_.insert(setting.key);
    for (auto& session : read(setting))
      add_kept(std::move(session));
  }
}

Task<> ParkedSessions::claim(store::Setting setting) {
  auto left = read(setting);
  store::Writes writes;
  writes.emplace_back(store::Expect{{store::RecordKind::setting, setting.key, std::string()}, setting.stored.version});
  writes.emplace_back(store::RemoveSetting{setting.key});
  for (auto& session : left) {
    session.key = prefix_of(self_) + base64_encode(random_bytes(12));
    writes.emplace_back(store::PutSetting{{session.key, sealed(session)}});
  }
  const auto written = co_await store_.write(writes);
  if (!written && written.error().kind() != ErrorKind::conflict)
    log::warning("a session that was left is not ended: {}", written.error().message());
  if (!written) co_return;
  note_kept(writes);
  for (auto& session : left)
    add_kept(std::move(session));
}

std::vector<ParkedSessions::Session> ParkedSessions::read(const store::Setting& setting) const {
  std::vector<Session> sessions;
  if (setting.value.empty()) return sessions;
  const auto bytes = base64_decode(setting.value);
  const auto text = bytes ? key_.open(*bytes, setting.key) : std::nullopt;
  boost::system::error_code fault;
  const auto parsed = text ? boost::json::parse(*text, fault) : boost::json::value();
  if (fault || !parsed.is_structured()) {
    log::warning("what is known of sessions that were left cannot be read");
    return sessions;
  }
  const auto add = [&](const boost::json::value& one, std::string key) {
    const auto part = [&](const char* name) { return boost::json::value_to<std::string>(one.at(name)); };
    const auto version = mcp::parse_version(part("version"));
    sessions.push_back({std::move(key),
                        part("upstream"),
                        part("url"),
                        {part("session"), version.value_or(mcp::kNewestLegacy)},
                        {},
                        true});
  };
  if (parsed.is_object()) {
    add(parsed, setting.key);
  } else {
    for (const auto& one : parsed.get_array())
      add(one, {});
  }
  return sessions;
}

void ParkedSessions::end_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http) {
  tasks_.spawn("ending sessions that were left", run_left(std::move(upstreams), http));
}

Task<> ParkedSessions::run_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http) {
  co_await read_left();
  // A session id must not be sent to an upstream whose URL has changed.
  const auto elsewhere = [&](const Session& one) {
    const ServedUpstream* const served = upstreams->find(one.upstream);
    return one.left && !one.ending && (served == nullptr || url_of(*served->upstream) != one.url);
  };
  if (std::erase_if(sessions_, elsewhere) > 0) {
    ++wanted_;
    co_await write();
  }
  for (const auto& served : upstreams->order)
    tasks_.spawn("ending sessions that were left", end_at(served, http));
}

Task<> ParkedSessions::stop() {
  tasks_.cancel();
  co_await tasks_.join();
}

Task<> ParkedSessions::end_at(ServedUpstream upstream, net::HttpClient& http) {
  const auto* const url = std::get_if<net::Url>(&upstream->endpoint());
  if (url == nullptr) co_return;
  std::vector<client::HttpSession> left;
  std::set<std::string> keys;
  for (auto& one : sessions_) {
    if (!one.left || one.ending || one.upstream != upstream->settings().name) continue;
    one.ending = true;
    left.push_back(one.session);
    keys.insert(one.key);
  }
  if (left.empty()) co_return;
  std::chrono::seconds pause = kFirstPause;
  for (int tries = 0; !left.empty(); ++tries) {
    const auto ended = co_await client::end_session(http, *url, upstream->options(), left.back());
    if (ended) {
      left.pop_back();
      tries = -1;
      pause = kFirstPause;
      continue;
    }
    if (tries == kTries) {
      log::warning("upstream {}: {} sessions that were left are not ended: {}", upstream->settings().name, left.size(),
                   ended.error().message());
      break;
    }
    co_await sleep_for(pause);
    pause *= 2;
  }
  std::erase_if(sessions_, [&](const Session& one) { return one.left && keys.contains(one.key); });
  ++wanted_;
  co_await write();
}

}  // namespace proteus::gateway
