#include "gateway/bridge/parked_sessions.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

#include "base/base64.hpp"
#include "base/log.hpp"
#include "client/transport/streamable_http.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kParkedSessions = "parked_sessions";
// The text of all, sealed and encoded, must fit into one setting.
constexpr std::size_t kMostBytes = std::size_t{512} * 1024;
constexpr int kTries = 8;
constexpr std::chrono::seconds kFirstPause{1};

std::string url_of(const providers::Upstream& upstream) {
  const bool http = std::holds_alternative<net::Url>(upstream.endpoint());
  return http ? upstream.settings().url : std::string();
}

}  // namespace

ParkedSessions::ParkedSessions(asio::io_context& io, store::Store& store, SealingKey key)
    : io_(io), store_(store), key_(key), wrote_(io.get_executor()), tasks_(io.get_executor()) {}

Task<> ParkedSessions::keep(ServedUpstream upstream, std::shared_ptr<client::Connection> connection) {
  if (!connection) co_return;
  auto session = connection->session();
  if (!session) co_return;
  Session kept{upstream->settings().name, url_of(*upstream.upstream), std::move(*session), connection};
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
    bytes_ += session.bytes();
    sessions_.push_back(std::move(session));
    ++wanted_;
  }
  co_await write();
}

// Those who come while it writes wait for the next time, together.
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
    boost::json::array array;
    for (const auto& one : sessions_) {
      array.push_back({{"upstream", one.upstream},
                       {"url", one.url},
                       {"session", one.session.id},
                       {"version", mcp::to_string(one.session.version)}});
    }
    std::string value;
    if (!array.empty()) value = base64_encode(key_.seal(boost::json::serialize(array), kParkedSessions));
    const auto put = co_await store_.put(store::Setting{std::string(kParkedSessions), std::move(value)});
    if (!put) log::warning("sessions in which calls wait are not kept: {}", put.error().message());
    written_ = all;
  }
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

Task<> ParkedSessions::read_left() {
  const auto kept = co_await store_.setting(std::string(kParkedSessions));
  if (!kept) co_return log::warning("sessions that were left are not known: {}", kept.error().message());
  if (!*kept || (*kept)->empty()) co_return;
  const auto sealed = base64_decode(**kept);
  const auto text = sealed ? key_.open(*sealed, kParkedSessions) : std::nullopt;
  boost::system::error_code fault;
  const auto parsed = text ? boost::json::parse(*text, fault) : boost::json::value();
  if (fault || !parsed.is_array()) co_return log::warning("what is known of sessions that were left cannot be read");
  for (const auto& one : parsed.get_array()) {
    const auto part = [&](const char* key) { return boost::json::value_to<std::string>(one.at(key)); };
    const auto version = mcp::parse_version(part("version"));
    sessions_.push_back(
        {part("upstream"), part("url"), {part("session"), version.value_or(mcp::kNewestLegacy)}, {}, true});
    bytes_ += sessions_.back().bytes();
  }
}

void ParkedSessions::end_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http) {
  tasks_.spawn("ending sessions that were left", run_left(std::move(upstreams), http));
}

Task<> ParkedSessions::run_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http) {
  co_await read_left();
  // What is somewhere else now is not spoken to in its name.
  const auto elsewhere = [&](const Session& one) {
    const ServedUpstream* const served = upstreams->find(one.upstream);
    return one.left && (served == nullptr || url_of(*served->upstream) != one.url);
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
  const auto is_left = [&](const Session& one) { return one.left && one.upstream == upstream->settings().name; };
  std::vector<client::HttpSession> left;
  for (const auto& one : sessions_) {
    if (is_left(one)) left.push_back(one.session);
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
  std::erase_if(sessions_, is_left);
  ++wanted_;
  co_await write();
}

}  // namespace proteus::gateway
