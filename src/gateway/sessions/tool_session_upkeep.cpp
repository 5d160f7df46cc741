// The periodic work on tool sessions: loading them at start-up, ending idle ones, and writing when they were last used.
#include <algorithm>
#include <map>
#include <span>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kSessionsAtOnce = 500;  // in one write
constexpr auto kLongestInterval = std::chrono::seconds(5);
constexpr auto kUnusedKept = std::chrono::seconds(10);  // cheap to make again
constexpr auto kShortestInterval = std::chrono::milliseconds(50);

std::string_view to_string(CatalogMode mode) { return mode == CatalogMode::shared ? "shared" : "session"; }

boost::json::array write_faults(const std::vector<providers::ToolFault>& faults) {
  boost::json::array all;
  all.reserve(faults.size());
  for (const auto& fault : faults) {
    boost::json::object one{{"pointer", fault.pointer}, {"message", fault.message}};
    if (!fault.tool.empty()) one["tool"] = fault.tool;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

store::ToolSessionRecord ToolSessions::record_of(const Init& init, store::Time created_at) {
  boost::json::object secrets{{"user_token", init.user_token.reveal()}};
  if (init.backend_token) secrets["backend_token"] = init.backend_token->reveal();
  return {.id = init.id.value(),
          .user_id = init.user_id,
          .secrets = boost::json::serialize(secrets),
          .context = init.context,
          .catalog = std::string(to_string(init.catalog)),
          .created_at = created_at,
          .last_used_at = time_now(),
          .secrets_fault = {}};
}

std::shared_ptr<const SessionBinding> ToolSessions::binding_of(const Init& init) {
  return std::make_shared<const SessionBinding>(
      SessionBinding{.user_id = init.user_id,
                     .token = json::sha256(init.user_token.reveal()),
                     .bearer = init.backend_token ? *init.backend_token : init.user_token,
                     .context = init.context,
                     .catalog = init.catalog});
}

bool ToolSessions::looks_the_same(const ToolSet& before, const ToolSet& after) {
  if (!before.snapshot || !after.snapshot) return before.snapshot == after.snapshot;
  return before.snapshot->lists()[catalog::Kind::tool] == after.snapshot->lists()[catalog::Kind::tool];
}

Result<> ToolSessions::check_size(const ToolSet& set) {
  if (set.tools.size() > kMaxTools) return std::unexpected(errors::too_large("the tools of a session", kMaxTools));
  if (set.snapshot && set.snapshot->list(catalog::Kind::tool).joined().size() > kMaxToolBytes)
    return std::unexpected(errors::too_large("the definitions of a session's tools", kMaxToolBytes));
  return {};
}

Result<std::vector<providers::ReadTool>> ToolSessions::read_tools(const boost::json::array& parsed,
                                                                  std::string_view text) {
  const auto elements = json::elements_of(text, kMaxTools);
  if (!elements) return std::unexpected(Error(elements.error()).within("tools"));
  std::vector<providers::ReadTool> tools;
  std::vector<providers::ToolFault> faults;
  tools.reserve(elements->size());
  const providers::UrlCheck may_ask = [this](const net::Url& url) { return dependencies_.egress.check_strictly(url); };
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    auto outcome = providers::read_http_tool((*elements)[i], schemas_, may_ask, &parsed[i]);
    if (auto* wrong = std::get_if<std::vector<providers::ToolFault>>(&outcome)) {
      for (auto& fault : *wrong) {
        fault.pointer = fmt::format("/tools/{}{}", i, fault.pointer);
        faults.push_back(std::move(fault));
      }
      continue;
    }
    auto& tool = tools.emplace_back(std::get<providers::ReadTool>(std::move(outcome)));
    if (!seen.insert(tool.tool->name).second)
      faults.push_back({tool.tool->name, fmt::format("/tools/{}/name", i), "is there twice"});
  }
  if (faults.empty()) return tools;
  const auto& first = faults.front();
  return std::unexpected(
      errors::invalid(fmt::format("the tools have {} {}, and none is registered; {}: {}", faults.size(),
                                  faults.size() == 1 ? "fault" : "faults", first.pointer, first.message))
          .with_data(boost::json::serialize(write_faults(faults))));
}

Task<Result<>> ToolSessions::load() {
  auto sessions = co_await dependencies_.store.tool_sessions();
  if (!sessions) co_return std::unexpected(sessions.error());
  // The token of a session that has been idle for too long may belong to another session, which has used it since. The
  // session that was used last is loaded last and gets the token.
  std::ranges::sort(*sessions, {}, &store::ToolSessionRecord::last_used_at);
  auto records = co_await dependencies_.store.session_tools();
  if (!records) co_return std::unexpected(records.error());
  std::map<std::string, std::vector<store::SessionToolRecord>, std::less<>> tools;
  for (auto& record : *records) {
    auto& own = tools[record.session];
    own.push_back(std::move(record));
  }
  latest_at_ = dependencies_.clock.now();
  for (const auto& record : *sessions)
    latest_ = std::max({latest_, record.created_at, record.last_used_at});
  for (const auto& record : *sessions)
    take_over(record, {}, tools[record.id]);
  written_until_ = latest_at_;
  co_return Result<>{};
}

Task<> ToolSessions::look_over() { co_await asio::co_spawn(control(), do_look_over(), asio::use_awaitable); }

Task<> ToolSessions::do_look_over() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await write_removals();
  touch_calling();
  if (dependencies_.shared) co_await ask_for_uses();
  co_await end_idle();
  co_await write_uses();
  dependencies_.gateway.drop_unused_since(dependencies_.clock.now() - kUnusedKept);
}

std::chrono::milliseconds ToolSessions::interval() const {
  return std::clamp<std::chrono::milliseconds>(options_.idle / 10, kShortestInterval, kLongestInterval);
}

void ToolSessions::touch_calling() {
  const auto now = dependencies_.clock.now();
  for (const auto& entry : table_.all()) {
    if (now - entry.session->last_used() < options_.idle / 2) continue;
    if (dependencies_.gateway.is_calling(entry.principal->key())) entry.session->touch(now);
  }
}

// Allows for the interval at which other processes write their uses.
bool ToolSessions::may_end(const ToolSession& session) const {
  return table_.is_idle(session, dependencies_.shared ? 2 * interval() : std::chrono::milliseconds(0));
}

Task<> ToolSessions::end_idle() {
  auto idle = table_.all();
  std::erase_if(idle, [&](const auto& entry) { return !may_end(*entry.session); });
  // Where another process may have changed a session, the end of one must not fail because of another.
  const std::size_t at_once = dependencies_.shared ? 1 : kSessionsAtOnce;
  for (auto rest = std::span(idle); !rest.empty(); rest = rest.subspan(std::min(at_once, rest.size()))) {
    const auto some = rest.first(std::min(at_once, rest.size()));
    const auto ended = co_await end_some({some.begin(), some.end()});
    if (ended || ended.error().kind() == ErrorKind::conflict) continue;
    log::warning("sessions that nobody uses are not ended: {}", ended.error().message());
    co_return;
  }
}

Task<Result<>> ToolSessions::end_some(std::vector<ToolSessionEntry> idle) {
  std::erase_if(idle, [&](const auto& entry) { return !busy_.insert(entry.session->id().value()).second; });
  const std::shared_ptr<void> freed(nullptr, [this, idle](void*) {
    for (const auto& entry : idle)
      busy_.erase(entry.session->id().value());
    freed_.ring();
  });
  store::Writes writes;
  for (auto& entry : idle) {
    const auto version = co_await unused_version(entry.session);
    // It may have been used, or replaced, before it was busy.
    const bool is_present = table_.find(entry.session->id()).session == entry.session;
    if (!version || !is_present || !may_end(*entry.session)) {
      entry = {};
      continue;
    }
    expect(writes, entry.session->id(), *version);
    writes.emplace_back(store::RemoveToolSession{entry.session->id().value()});
  }
  if (writes.empty()) co_return Result<>{};
  if (const auto written = co_await dependencies_.store.write(std::move(writes)); !written)
    co_return std::unexpected(written.error());
  for (const auto& entry : idle) {
    if (!entry) continue;
    end(entry);
    log::info("session {} has ended: nobody used it", entry.session->id().value());
    // Ending a session takes a moment, so other work gets a turn on this thread.
    co_await asio::post(control(), asio::use_awaitable);
  }
  co_return Result<>{};
}

Task<> ToolSessions::write_uses() {
  const auto now = dependencies_.clock.now();
  const auto time = time_now();
  store::Writes writes;
  const auto entries = table_.all();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ToolSession& session = *entries[i].session;
    const auto used = session.last_used();
    // A use that was written is not written again: another process may have written a later one since.
    if (used > written_until_) {
      const auto at = time - std::chrono::floor<std::chrono::microseconds>(now - used);
      writes.emplace_back(store::TouchToolSession{session.id().value(), at});
    }
    if (writes.size() < kSessionsAtOnce && i + 1 < entries.size()) continue;
    if (writes.empty()) continue;
    if (const auto written = co_await dependencies_.store.write(std::exchange(writes, {})); !written) {
      log::warning("when sessions were used is not kept: {}", written.error().message());
      co_return;
    }
  }
  written_until_ = now;
}

void ToolSessions::start() { background_.spawn("tool sessions", look_over_now_and_then()); }

Task<> ToolSessions::look_over_now_and_then() {
  while (!stopped_) {
    timer_.expires_after(interval());
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!stopped_) co_await do_look_over();
  }
}

Task<> ToolSessions::stop() {
  stopped_ = true;
  timer_.cancel();
  changes_.stop();
  co_await background_.join();
  co_await write_uses();
  co_await clients_.close();
}

}  // namespace proteus::gateway
