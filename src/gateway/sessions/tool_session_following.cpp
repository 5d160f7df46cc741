// Tool sessions from the store's records: at start-up, and after another process has changed them.
#include <algorithm>
#include <iterator>
#include <set>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "gateway/sessions/exclusive_session.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kUsesAtOnce = 500;

Secret member(const boost::json::value& secrets, std::string_view key) {
  const auto* found = secrets.is_object() ? secrets.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? Secret(std::string(found->get_string())) : Secret();
}

}  // namespace

void ToolSessions::expect(store::Writes& writes, const ToolSessionId& id, std::uint64_t version) const {
  if (dependencies_.shared)
    writes.emplace_back(store::Expect{{store::RecordKind::tool_session, id.value(), {}}, version});
}

void ToolSessions::expect_tool(store::Writes& writes, ToolSession& session, const std::string& tool) const {
  if (!dependencies_.shared) return;
  const auto known = session.tool_versions().find(tool);
  writes.emplace_back(store::Expect{{store::RecordKind::session_tool, session.id().value(), tool},
                                    known == session.tool_versions().end() ? 0 : known->second});
}

store::PutToolSession ToolSessions::write_of(const Init& init, store::Time created_at) {
  store::PutToolSession put{record_of(init, created_at)};
  if (dependencies_.shared) put.hashes.push_back(json::hex(json::sha256(init.user_token.reveal())));
  return put;
}

std::optional<ToolOfSet> ToolSessions::read_tool(const store::SessionToolRecord& record) {
  std::string why = record.secrets_fault;
  if (why.empty()) {
    // Does not check where the URL leads. That happens at each call, because the egress rules may change in either
    // direction.
    auto outcome = providers::read_http_tool(providers::join_tool(record.definition, record.secrets), schemas_, {});
    if (auto* read = std::get_if<providers::ReadTool>(&outcome))
      return ToolOfSet{read->tool, std::move(read->definition)};
    why = std::get<std::vector<providers::ToolFault>>(outcome).front().message;
  }
  log::warning("the tool {} of session {} is not served: {}", record.name, record.session, why);
  return std::nullopt;
}

std::optional<ToolSessions::Init> ToolSessions::read_session(const store::ToolSessionRecord& record) const {
  const auto secrets = json::parse(record.secrets.empty() ? "null" : record.secrets);
  Secret token = secrets ? member(*secrets, "user_token") : Secret();
  if (token.empty()) {
    log::warning("the session {} is not served: {}", record.id,
                 record.secrets_fault.empty() ? "it has no token" : record.secrets_fault);
    return std::nullopt;
  }
  Secret backend = member(*secrets, "backend_token");
  return Init{.id = ToolSessionId(record.id),
              .user_token = std::move(token),
              .user_id = record.user_id,
              .backend_token = backend.empty() ? std::nullopt : std::optional(std::move(backend)),
              .context = record.context,
              .catalog = record.catalog == "session" ? CatalogMode::session : CatalogMode::shared};
}

// Makes or updates a session from its record and its tools. `entry` is the session if this process knows it, else
// empty.
void ToolSessions::take_over(const store::ToolSessionRecord& record, ToolSessionEntry entry,
                             const std::vector<store::SessionToolRecord>& tools) {
  const auto init = read_session(record);
  if (!init) return;
  last_created_ = std::max(last_created_, record.created_at);
  const bool is_new = !entry;
  const auto idle_for = std::max(time_now() - record.last_used_at, std::chrono::microseconds(0));
  const auto used = latest_at_ - idle_for;
  if (is_new) entry = make(init->id, record.created_at, used);
  if (!is_new && used > entry.session->last_used()) entry.session->touch(used);
  entry.session->set_version(record.stored.version);
  std::vector<ToolOfSet> given;
  entry.session->tool_versions().clear();
  for (const auto& one : tools) {
    if (dependencies_.shared) entry.session->tool_versions().emplace(one.name, one.stored.version);
    if (auto tool = read_tool(one)) given.push_back(std::move(*tool));
  }
  const auto before = entry.session->tools();
  if (!given.empty() || before->snapshot) {
    auto set = sets_.make(entry.session->name(), std::move(given));
    if (set) {
      entry.session->set_tools(*set);
      if (!is_new && !looks_the_same(*before, **set)) changes_.changed(entry.session);
    } else {
      log::warning("the tools of session {} are not served: {}", record.id, set.error().message());
    }
  }
  const auto old = entry.session->binding();
  const auto binding = binding_of(*init);
  const bool same =
      !is_new && old->token == binding->token && old->context == binding->context && old->catalog == binding->catalog;
  if (same) return entry.session->bind(binding);
  const auto principal = entry.principal;
  put(entry, binding);
  if (principal) revoke(*principal);
}

Task<Result<>> ToolSessions::follow(ToolSessionId id, std::vector<std::uint64_t> numbers) {
  co_return co_await asio::co_spawn(control(), do_follow(std::move(id), std::move(numbers)), asio::use_awaitable);
}

void ToolSessions::note_own(const ToolSessionId& id, const store::Written& written) {
  if (!dependencies_.shared) return;
  auto& numbers = own_writes_[id.value()];
  numbers.insert(numbers.end(), written.versions.begin(), written.versions.end());
}

bool ToolSessions::were_own(const ToolSessionId& id, const std::vector<std::uint64_t>& numbers) {
  const auto found = own_writes_.find(id.value());
  if (found == own_writes_.end()) return false;
  const auto count = std::erase_if(found->second, [&](auto own) { return std::ranges::binary_search(numbers, own); });
  if (found->second.empty()) own_writes_.erase(found);
  return !numbers.empty() && count == numbers.size();
}

Task<Result<>> ToolSessions::do_follow(ToolSessionId id, std::vector<std::uint64_t> numbers) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await ExclusiveAccess::take(*this, id.value());
  if (were_own(id, numbers)) co_return Result<>{};
  auto record = co_await dependencies_.store.tool_session(id.value());
  if (!record) co_return std::unexpected(record.error());
  auto tools = co_await dependencies_.store.session_tools_of(id.value());
  if (!tools) co_return std::unexpected(tools.error());
  // The session may have been removed between the two reads.
  if (*record && tools->empty()) record = co_await dependencies_.store.tool_session(id.value());
  if (!record) co_return std::unexpected(record.error());
  ToolSessionEntry entry = table_.find(id);
  // Another session has the id now, so the principal of the old one no longer exists.
  if (entry && (!*record || (*record)->created_at != entry.session->created_at())) {
    end(entry);
    entry = {};
  }
  const auto removed = removals_.find(id.value());
  const bool is_removed = *record && removed != removals_.end() && removed->second.created_at == (*record)->created_at;
  if (!*record || is_removed) co_return Result<>{};
  take_over(**record, std::move(entry), *tools);
  co_return Result<>{};
}

Task<Result<>> ToolSessions::write_removal(std::string id, Removal removal) {
  for (;;) {
    store::Writes writes;
    if (dependencies_.shared) {
      const auto record = co_await dependencies_.store.tool_session(id);
      if (!record) co_return std::unexpected(record.error());
      if (!*record || (*record)->created_at != removal.created_at) co_return Result<>{};
      expect(writes, ToolSessionId(id), (*record)->stored.version);
    }
    std::ranges::copy(removal.writes, std::back_inserter(writes));
    const auto written = co_await dependencies_.store.write(std::move(writes));
    if (written) co_return Result<>{};
    // A change that another process made meanwhile has no effect: the session is removed all the same.
    if (!dependencies_.shared || written.error().kind() != ErrorKind::conflict)
      co_return std::unexpected(written.error());
  }
}

Task<Result<>> ToolSessions::follow_all() {
  own_writes_.clear();
  const auto records = co_await dependencies_.store.tool_sessions();
  if (!records) co_return std::unexpected(records.error());
  std::set<std::string> ids;
  for (const auto& record : *records)
    ids.insert(record.id);
  for (const auto& entry : table_.all())
    ids.insert(entry.session->id().value());
  for (const auto& id : ids) {
    if (auto followed = co_await follow(ToolSessionId(id)); !followed) co_return followed;
  }
  co_return Result<>{};
}

Task<> ToolSessions::ask_for_uses() {
  auto idle = table_.all();
  const auto now = dependencies_.clock.now();
  std::erase_if(idle, [&](const auto& entry) { return now - entry.session->last_used() < options_.idle / 2; });
  for (std::size_t i = 0; i < std::min(idle.size(), kUsesAtOnce); ++i, ++asked_until_)
    (void)co_await unused_version(idle[asked_until_ % idle.size()].session);
}

Task<std::optional<std::uint64_t>> ToolSessions::unused_version(std::shared_ptr<ToolSession> session) {
  if (!dependencies_.shared) co_return 0;
  const auto record = co_await dependencies_.store.tool_session(session->id().value());
  if (!record) co_return std::nullopt;
  if (!*record) co_return 0;
  if ((*record)->created_at != session->created_at()) co_return std::nullopt;
  const auto idle_for = std::max(time_now() - (*record)->last_used_at, std::chrono::microseconds(0));
  const auto used = latest_at_ - idle_for;
  if (used > session->last_used()) session->touch(used);
  co_return table_.is_idle(*session) ? std::optional((*record)->stored.version) : std::nullopt;
}

}  // namespace proteus::gateway
