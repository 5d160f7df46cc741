#include "gateway/sessions/tool_sessions.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "gateway/sessions/exclusive_session.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

net::HttpClientOptions with_filter(net::HttpClientOptions options, const Egress& egress) {
  options.address_filter = egress.strict_filter();
  options.filter_version = &egress.version();
  return options;
}

Error unknown_session(const ToolSessionId& id) {
  return errors::not_found(fmt::format("there is no session {}", log::printable(id.value(), 128)));
}

}  // namespace

ToolSessions::ToolSessions(Dependencies dependencies, ToolSessionOptions options)
    : dependencies_(dependencies),
      options_(std::move(options)),
      clients_(dependencies_.workers, dependencies_.clock, with_filter(options_.http, dependencies_.egress)),
      confirmations_(dependencies_.clock, options_.process),
      calls_{clients_, dependencies_.clock, confirmations_, checks_, options_.calls},
      table_(dependencies_.clock, options_.idle,
             dependencies_.shared ? ToolSessionTable::Processes::several : ToolSessionTable::Processes::one),
      changes_(control(), dependencies_.gateway.listeners(), options_.debounce),
      background_(control().get_executor()),
      freed_(control().get_executor()),
      timer_(control()) {
  dependencies_.gateway.add_find_principal([this](std::string_view /*token*/, const json::Digest& hash) {
    return dependencies_.gateway.is_blind() ? nullptr : table_.find(hash);
  });
}

ToolSessions::~ToolSessions() = default;

Task<Result<ToolSessions::Initialized>> ToolSessions::init(Init init, std::string who) {
  co_return co_await asio::co_spawn(control(), do_init(std::move(init), std::move(who)), asio::use_awaitable);
}

Task<Result<std::vector<std::string>>> ToolSessions::register_tools(Registration registration, std::string who) {
  co_return co_await asio::co_spawn(control(), do_register(std::move(registration), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<>> ToolSessions::unregister(ToolSessionId id, std::string name, std::string who) {
  co_return co_await asio::co_spawn(control(), do_unregister(std::move(id), std::move(name), std::move(who)),
                                    asio::use_awaitable);
}

Task<ToolSessions::Removed> ToolSessions::cleanup(ToolSessionId id, std::string who) {
  co_return co_await asio::co_spawn(control(), do_cleanup(std::move(id), std::move(who)), asio::use_awaitable);
}

std::shared_ptr<ToolSession> ToolSessions::use(const ToolSessionId& id) {
  const auto entry = table_.find(id);
  if (!entry || table_.has_ended(*entry.session)) return nullptr;
  entry.session->touch(dependencies_.clock.now());
  return entry.session;
}

Task<ToolSessions::Known> ToolSessions::look_up(ToolSessionId id) {
  auto entry = table_.find(id);
  if (entry && table_.is_idle(*entry.session) && co_await unused_version(entry.session))
    co_return Known{.live = {}, .idle = std::move(entry)};
  co_return Known{.live = std::move(entry), .idle = {}};
}

Result<std::shared_ptr<void>> ToolSessions::claim(const Init& init, const Known& by) {
  // The token would be sent to back ends, and the operator of a back end could then act as that caller.
  if (dependencies_.gateway.identities().names_issuer(init.user_token.reveal())) {
    return std::unexpected(
        errors::invalid("user_token: is a token of one of auth.issuers, which must not be sent to back ends; make one "
                        "for this session"));
  }
  const json::Digest token = json::sha256(init.user_token.reveal());
  const auto holder = table_.holder(token);
  const bool is_own = holder == by.live.session || holder == by.idle.session;
  if ((holder && !is_own) || dependencies_.gateway.knows_token(token) || claimed_.contains(token)) {
    return std::unexpected(
        errors::conflict("another principal already has this user_token; each session needs its own"));
  }
  if (!init.context.empty() && !dependencies_.gateway.has_context(init.context)) {
    return std::unexpected(
        errors::invalid(fmt::format("context: there is no context {}", log::printable(init.context, 64))));
  }
  if (!by.live && table_.size() >= options_.sessions) {
    return std::unexpected(
        errors::exhausted(fmt::format("there are {} sessions, which is the limit", options_.sessions)));
  }
  claimed_.insert(token);
  return std::shared_ptr<void>(nullptr, [this, token](void*) { claimed_.erase(token); });
}

std::shared_ptr<const Principal> ToolSessions::principal_for(const std::shared_ptr<ToolSession>& session,
                                                             const SessionBinding& binding) const {
  const bool shared = binding.catalog == CatalogMode::shared;
  // A session that is bound to a context can enter no other.
  std::vector<std::string> contexts = {binding.context.empty() ? "*" : binding.context};
  return std::make_shared<const Principal>(
      Principal::Parts{.name = session->name().value(),
                       .permissions = std::make_shared<const Permissions>(
                           shared ? catalog::Access::all() : catalog::Access::only({}), std::move(contexts)),
                       .key = session->key(),
                       .own = session,
                       .home = binding.context});
}

ToolSessionEntry ToolSessions::make(ToolSessionId id, store::Time created_at, Clock::Monotonic last_used) const {
  auto session = std::make_shared<ToolSession>(std::move(id), created_at, calls_);
  session->touch(last_used);
  return {std::move(session), nullptr};
}

// Ensures, whatever the clock does, that a session is younger than all earlier sessions with the same id.
store::Time ToolSessions::next_created_at() {
  return last_created_ = std::max(time_now(), last_created_ + std::chrono::microseconds(1));
}

store::Time ToolSessions::time_now() {
  const auto now = dependencies_.clock.now();
  const auto passed = std::chrono::floor<std::chrono::microseconds>(now - latest_at_);
  latest_ = std::max(store::to_time(dependencies_.clock.wall()), latest_ + passed);
  latest_at_ = now;
  return latest_;
}

void ToolSessions::put(ToolSessionEntry& entry, const std::shared_ptr<const SessionBinding>& binding) {
  entry.principal = principal_for(entry.session, *binding);
  table_.put(entry, binding);
}

void ToolSessions::revoke(const Principal& principal) {
  principal.withdraw();
  const auto concerned = [&](const server::Caller& caller) { return &principal_of(caller) == &principal; };
  dependencies_.gateway.listeners().end_of(principal.key(), concerned);
  dependencies_.gateway.endpoint().sessions().end_of(principal.key(), concerned);
}

void ToolSessions::end(const ToolSessionEntry& entry) {
  table_.remove(*entry.session);
  if (entry.session->snapshot()) changes_.changed_for_the_last_time(*entry.session);
  entry.principal->withdraw();
  dependencies_.gateway.end_callers({entry.principal->key()}, "the session has ended");
}

store::Write ToolSessions::audit(std::string who, std::string what, boost::json::object detail) const {
  return audit_entry(dependencies_.clock, std::move(who), std::move(what), detail);
}

Task<Result<ToolSessions::Initialized>> ToolSessions::do_init(Init init, std::string who) {
  // A change that has begun must complete even if its caller is cancelled, because store and table must agree. The same
  // holds for the functions below.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await ExclusiveAccess::take(*this, init.id.value());
  Known known = co_await look_up(init.id);
  ToolSessionEntry entry = known.live;
  if (entry && entry.session->binding()->user_id != init.user_id) {
    co_return std::unexpected(errors::conflict("the session belongs to another user; clean it up first"));
  }
  const auto claimed = claim(init, known);
  if (!claimed) co_return std::unexpected(claimed.error());
  const bool is_new = !entry;
  if (is_new) entry = make(init.id, next_created_at(), dependencies_.clock.now());

  store::Writes writes;
  expect(writes, init.id, is_new && known.idle ? known.idle.session->version() : entry.session->version());
  if (is_new) writes.emplace_back(store::RemoveToolSession{init.id.value()});
  writes.emplace_back(write_of(init, entry.session->created_at()));
  writes.push_back(audit(std::move(who), "session.init",
                         {{"session_id", init.id.value()}, {"status", is_new ? "created" : "updated"}}));
  const auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(written.error());
  if (!written->versions.empty()) entry.session->set_version(written->versions.back());
  note_own(init.id, *written);

  removals_.erase(init.id.value());
  if (known.idle) end(known.idle);
  const auto before = entry.principal;
  const auto old = entry.session->binding();
  const auto binding = binding_of(init);
  entry.session->touch(dependencies_.clock.now());
  const bool same =
      !is_new && old->token == binding->token && old->context == binding->context && old->catalog == binding->catalog;
  if (same) {
    entry.session->bind(binding);
    co_return Initialized::updated;
  }
  put(entry, binding);
  if (before) revoke(*before);
  co_return is_new ? Initialized::created : Initialized::updated;
}

Task<Result<std::vector<std::string>>> ToolSessions::do_register(Registration registration, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await ExclusiveAccess::take(*this, registration.id.value());
  const Known known = co_await look_up(registration.id);
  ToolSessionEntry entry = known.live;
  std::optional<Init> made;
  std::shared_ptr<void> claimed;
  if (entry) {
    const auto bound = entry.session->binding();
    if (registration.user_id && *registration.user_id != bound->user_id)
      co_return std::unexpected(errors::conflict("the session belongs to another user"));
    if (registration.user_token && json::sha256(registration.user_token->reveal()) != bound->token)
      co_return std::unexpected(errors::conflict("the session has a different user_token; session/init changes it"));
  } else {
    if (!registration.user_token) {
      co_return std::unexpected(errors::not_found(fmt::format("there is no session {}; give a user_token to create it",
                                                              log::printable(registration.id.value(), 128))));
    }
    made = Init{.id = registration.id,
                .user_token = *registration.user_token,
                .user_id = registration.user_id.value_or("null")};
    auto claiming = claim(*made, known);
    if (!claiming) co_return std::unexpected(claiming.error());
    claimed = std::move(*claiming);
    entry = make(registration.id, next_created_at(), dependencies_.clock.now());
  }

  std::vector<std::string> names;
  std::vector<ToolOfSet> given;
  store::Writes writes;
  names.reserve(registration.tools.size());
  given.reserve(registration.tools.size());
  writes.reserve(2 * registration.tools.size() + 4);
  expect(writes, registration.id, made && known.idle ? known.idle.session->version() : entry.session->version());
  for (const auto& tool : registration.tools) {
    if (!made) expect_tool(writes, *entry.session, tool.tool->name);
  }
  if (made) {
    writes.emplace_back(store::RemoveToolSession{registration.id.value()});
    writes.emplace_back(write_of(*made, entry.session->created_at()));
  }
  boost::json::array listed;
  for (auto& tool : registration.tools) {
    names.push_back(tool.tool->name);
    listed.emplace_back(tool.tool->name);
    given.push_back({tool.tool, tool.definition});
    writes.emplace_back(store::PutSessionTool{{.session = registration.id.value(),
                                               .name = tool.tool->name,
                                               .definition = std::move(tool.definition),
                                               .secrets = std::move(tool.hidden),
                                               .secrets_fault = {}}});
  }
  const auto before = entry.session->tools();
  auto set = sets_.make(entry.session->name(), with(*before, std::move(given)));
  if (!set) co_return std::unexpected(set.error());
  if (auto fits = check_size(**set); !fits) co_return std::unexpected(fits.error());
  writes.push_back(
      audit(std::move(who), "tools.register", {{"session_id", registration.id.value()}, {"tools", std::move(listed)}}));
  const auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(written.error());
  // Index 0 is the number of the removal that precedes it.
  if (made && written->versions.size() > 1) entry.session->set_version(written->versions[1]);
  for (std::size_t i = 0, at = made ? 2 : 0; dependencies_.shared && i < names.size(); ++i, ++at)
    entry.session->tool_versions().insert_or_assign(names[i], written->versions[at]);
  note_own(registration.id, *written);

  removals_.erase(registration.id.value());
  if (known.idle) end(known.idle);
  entry.session->touch(dependencies_.clock.now());
  entry.session->set_tools(*set);
  if (made) put(entry, binding_of(*made));
  if (!looks_the_same(*before, **set)) changes_.changed(entry.session);
  co_return names;
}

Task<Result<>> ToolSessions::do_unregister(ToolSessionId id, std::string name, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await ExclusiveAccess::take(*this, id.value());
  const ToolSessionEntry entry = (co_await look_up(id)).live;
  if (!entry) co_return std::unexpected(unknown_session(id));
  const auto before = entry.session->tools();
  if (!before->find(name)) {
    co_return std::unexpected(
        errors::not_found(fmt::format("the session {} has no tool {}", id.value(), log::printable(name, 128))));
  }
  auto set = sets_.make(entry.session->name(), without(*before, name));
  if (!set) co_return std::unexpected(set.error());
  store::Writes writes;
  expect_tool(writes, *entry.session, name);
  writes.emplace_back(store::RemoveSessionTool{id.value(), name});
  writes.push_back(audit(std::move(who), "tools.unregister", {{"session_id", id.value()}, {"tool", name}}));
  if (const auto written = co_await dependencies_.store.write(std::move(writes)); !written)
    co_return std::unexpected(written.error());
  entry.session->tool_versions().erase(name);
  entry.session->touch(dependencies_.clock.now());
  entry.session->set_tools(*set);
  changes_.changed(entry.session);
  co_return Result<>{};
}

Task<ToolSessions::Removed> ToolSessions::do_cleanup(ToolSessionId id, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await ExclusiveAccess::take(*this, id.value());
  const Known known = co_await look_up(id);
  const ToolSessionEntry& entry = known.live ? known.live : known.idle;
  Removed removed{.tools = known.live ? entry.session->tools()->tools.size() : 0};
  // A full disk must not keep a token alive.
  if (entry) end(entry);
  store::Writes writes;
  writes.emplace_back(store::RemoveToolSession{id.value()});
  writes.push_back(audit(std::move(who), "session.cleanup", {{"session_id", id.value()}, {"removed", removed.tools}}));
  // Removes the session that has the id now, even if this process has not learned of it yet.
  const auto written = co_await dependencies_.store.write(writes);
  removed.is_durable = written.has_value();
  if (written) {
    removals_.erase(id.value());
  } else if (entry) {
    log::warning("session {} was removed, but the store has not recorded that yet: {}", log::printable(id.value(), 128),
                 written.error().message());
    removals_.insert_or_assign(id.value(), Removal{entry.session->created_at(), std::move(writes)});
  }
  co_return removed;
}

Task<> ToolSessions::write_removals() {
  std::vector<std::string> ids;
  ids.reserve(removals_.size());
  for (const auto& [id, writes] : removals_)
    ids.push_back(id);
  for (auto& id : ids) {
    const auto turn = co_await ExclusiveAccess::take(*this, id);
    const auto found = removals_.find(id);
    if (found == removals_.end()) continue;
    if (const auto written = co_await write_removal(id, found->second); !written) co_return;
    removals_.erase(id);
    log::info("the store has recorded the removal of session {}", log::printable(id, 128));
  }
}

}  // namespace proteus::gateway
