#include "gateway/operate/upstream_registry.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "gateway/operate/upstream_hash.hpp"
#include "json/canonical.hpp"
#include "json/fault_error.hpp"
#include "json/text.hpp"
#include "net/http/url.hpp"
#include "search/embeddings.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

using providers::UpstreamEntry;
using providers::UpstreamSettings;

namespace {

constexpr std::string_view kWhat = "the upstream";

std::string random_id() {
  std::string id;
  for (const char byte : random_bytes(16))
    id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return id;
}

boost::json::array keys_of(const boost::json::value& given) {
  boost::json::array keys;
  for (const auto& member : given.get_object())
    keys.emplace_back(member.key());
  return keys;
}

Error fault_at(std::string key, std::string message) {
  const json::Fault fault{.pointer = "/" + key, .path = std::move(key), .message = std::move(message)};
  return errors::faults(kWhat, {&fault, 1});
}

}  // namespace

std::string_view to_string(UpstreamOrigin origin) {
  switch (origin) {
    case UpstreamOrigin::file: return "file";
    case UpstreamOrigin::file_override: return "override";
    case UpstreamOrigin::runtime: return "runtime";
  }
  return "file";
}

UpstreamRegistry::UpstreamRegistry(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      all_(std::make_shared<const RegisteredUpstreams>()),
      one_at_a_time_(dependencies_.control.get_executor()) {}

RegisteredPointer UpstreamRegistry::find(std::string_view name) const {
  const auto all = all_.get();
  const auto found = std::ranges::find_if(*all, [&](const auto& one) { return one->name() == name; });
  return found == all->end() ? nullptr : *found;
}

Task<Result<RegisteredPointer>> UpstreamRegistry::create(boost::json::value given, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_create(std::move(given), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<RegisteredPointer>> UpstreamRegistry::patch(std::string name, boost::json::value patch, std::string who,
                                                        Expected expected) {
  co_return co_await asio::co_spawn(dependencies_.control,
                                    do_patch(std::move(name), std::move(patch), std::move(who), std::move(expected)),
                                    asio::use_awaitable);
}

Task<Result<UpstreamSettings>> UpstreamRegistry::imagine(std::string name, boost::json::value patch) {
  co_return co_await asio::co_spawn(dependencies_.control, do_imagine(std::move(name), std::move(patch)),
                                    asio::use_awaitable);
}

Task<Result<RegisteredPointer>> UpstreamRegistry::remove(std::string name, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_remove(std::move(name), std::move(who)),
                                    asio::use_awaitable);
}

Result<> UpstreamRegistry::check(const RegisteredUpstream& registered) const {
  const UpstreamSettings& settings = registered.entry.settings;
  if (registered.origin != UpstreamOrigin::file) {
    if (const auto faults = rules_.check(registered.entry); !faults.empty())
      return std::unexpected(errors::faults(kWhat, faults));
  }
  if (registered.origin != UpstreamOrigin::file && !settings.url.empty()) {
    const auto url = net::Url::parse(settings.url);
    if (!url) return std::unexpected(fault_at("url", url.error().message()));
    if (auto allowed = dependencies_.egress.check(*url); !allowed)
      return std::unexpected(fault_at("url", allowed.error().message()));
  }
  if (const std::string& issuer = settings.authentication.oauth.issuer;
      registered.origin != UpstreamOrigin::file && !issuer.empty()) {
    const auto url = net::Url::parse(issuer);
    if (!url) return std::unexpected(fault_at("authentication", url.error().message()));
    if (auto allowed = dependencies_.egress.check(*url); !allowed)
      return std::unexpected(fault_at("authentication", allowed.error().message()));
  }
  const auto found = providers::credentials(settings.authentication, dependencies_.environment);
  if (!found) return std::unexpected(fault_at("authentication", found.error().message()));
  return {};
}

RegisteredPointer UpstreamRegistry::checked(RegisteredUpstream registered) const {
  if (registered.fault.empty()) {
    if (auto fit = check(registered); !fit) registered.fault = fit.error().message();
  }
  const auto before = find(registered.name());
  const bool is_told = dependencies_.shared && before && before->fault == registered.fault;
  if (!registered.fault.empty() && !is_told)
    log::error("upstream {} is not served: {}", registered.name(), registered.fault);
  return std::make_shared<const RegisteredUpstream>(std::move(registered));
}

store::Write UpstreamRegistry::audit(std::string who, std::string what, boost::json::object detail) const {
  return audit_entry(dependencies_.clock, std::move(who), std::move(what), detail);
}

Task<Result<>> UpstreamRegistry::apply(RegisteredUpstreams next, Gateway::ChangedBy by) {
  Gateway::Settings settings;
  for (const auto& one : next) {
    if (one->fault.empty()) settings.push_back(one->entry.settings);
  }
  if (auto set = co_await dependencies_.gateway.set_upstreams(std::move(settings), by); !set) co_return set;
  all_.set(std::make_shared<const RegisteredUpstreams>(std::move(next)));
  co_return Result<>{};
}

void UpstreamRegistry::expect(store::Writes& writes, const std::string& name, std::uint64_t version) const {
  if (dependencies_.shared) writes.emplace_back(store::Expect{{store::RecordKind::upstream, name, {}}, version});
}

Task<Result<>> UpstreamRegistry::change(RegisteredUpstreams next, RegisteredPointer& changed, store::Writes writes,
                                        store::Writes undo) {
  auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  auto stored = std::make_shared<RegisteredUpstream>(*changed);
  stored->version = written->versions.empty() || stored->origin == UpstreamOrigin::file ? 0 : written->versions.front();
  std::ranges::replace(next, changed, RegisteredPointer(stored));
  changed = std::move(stored);
  const bool is_stored = changed->origin != UpstreamOrigin::file && std::ranges::find(next, changed) != next.end();
  auto applied = co_await apply(std::move(next));
  if (applied) {
    remember(*changed, is_stored);
    co_return applied;
  }
  const auto undone = co_await dependencies_.store.write(std::move(undo));
  if (!undone) log::error("a change of an upstream that failed is still in the store: {}", undone.error().message());
  co_return applied;
}

Task<Result<RegisteredPointer>> UpstreamRegistry::do_create(boost::json::value given, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();

  auto entry = providers::parse_upstream(given, defaults_);
  if (!entry) co_return std::unexpected(errors::faults(kWhat, entry.error()));
  const std::string name = entry->settings.name;
  if (find(name)) co_return std::unexpected(errors::conflict(fmt::format("there is an upstream {} already", name)));
  RegisteredUpstreams next = *all_.get();
  if (next.size() >= kMaxUpstreams)
    co_return std::unexpected(errors::too_large("the number of upstreams", kMaxUpstreams));
  const auto now = store::to_time(dependencies_.clock.wall());
  RegisteredPointer registered =
      std::make_shared<const RegisteredUpstream>(RegisteredUpstream{.id = random_id(),
                                                                    .created_at = now,
                                                                    .updated_at = now,
                                                                    .origin = UpstreamOrigin::runtime,
                                                                    .entry = std::move(*entry),
                                                                    .fault = {}});
  if (auto fit = check(*registered); !fit) co_return std::unexpected(std::move(fit.error()));
  next.push_back(registered);

  store::Writes writes;
  expect(writes, name, 0);
  writes.emplace_back(store::PutUpstream{to_record(*registered)});
  writes.push_back(audit(who, "upstream.create", {{"name", name}, {"keys", keys_of(given)}}));
  store::Writes undo;
  undo.emplace_back(store::RemoveUpstream{name});
  undo.push_back(audit(who, "upstream.create_undone", {{"name", name}}));
  auto changed = co_await change(std::move(next), registered, std::move(writes), std::move(undo));
  if (!changed) co_return std::unexpected(std::move(changed.error()));
  co_return registered;
}

Result<UpstreamEntry> UpstreamRegistry::patched(const RegisteredUpstream& before,
                                                const boost::json::value& patch) const {
  const bool of_file = before.origin != UpstreamOrigin::runtime;
  UpstreamEntry from = before.entry;
  if (before.origin == UpstreamOrigin::file) from.given.clear();
  const UpstreamSettings& base = of_file ? file_.find(before.name())->second.settings : defaults_;
  auto entry = providers::patch_upstream(from, patch, base);
  if (!entry) return std::unexpected(errors::faults(kWhat, entry.error()));
  if (of_file) entry->given.erase("name");
  return std::move(*entry);
}

Task<Result<UpstreamSettings>> UpstreamRegistry::do_imagine(std::string name, boost::json::value patch) {
  const RegisteredPointer before = find(name);
  if (!before) co_return std::unexpected(errors::not_found(fmt::format("there is no upstream {}", name)));
  auto entry = patched(*before, patch);
  if (!entry) co_return std::unexpected(std::move(entry.error()));
  co_return std::move(entry->settings);
}

Task<Result<RegisteredPointer>> UpstreamRegistry::do_patch(std::string name, boost::json::value patch, std::string who,
                                                           Expected expected) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();

  const RegisteredPointer before = find(name);
  if (!before) co_return std::unexpected(errors::not_found(fmt::format("there is no upstream {}", name)));
  if (expected && !expected(*before))
    co_return std::unexpected(
        errors::conflict(fmt::format("upstream {} has been changed since you looked at it", name)));
  if (before->secrets_lost && (!patch.is_object() || !patch.get_object().contains("authentication"))) {
    co_return std::unexpected(errors::conflict(
        fmt::format("the secrets of upstream {} can no longer be read; set its authentication again", name)));
  }
  const bool of_file = before->origin != UpstreamOrigin::runtime;
  if (of_file && waiting_.contains(name)) {
    co_return std::unexpected(errors::conflict(
        fmt::format("upstream {} is in the configuration file, and the store has another one of that name, registered "
                    "over the API; change it in the file, or remove it there, delete the other one, and add it again",
                    name)));
  }
  const bool overridden = before->origin == UpstreamOrigin::file_override;
  auto entry = patched(*before, patch);
  if (!entry) co_return std::unexpected(std::move(entry.error()));
  const bool restores = of_file && entry->given.empty();
  if (restores && !overridden) co_return before;

  RegisteredUpstream after = *before;
  after.origin = restores ? UpstreamOrigin::file : of_file ? UpstreamOrigin::file_override : UpstreamOrigin::runtime;
  after.entry = restores ? file_.find(name)->second : std::move(*entry);
  after.hash = restores ? hash_of(after.entry) : std::string();
  after.updated_at = store::to_time(dependencies_.clock.wall());
  after.fault.clear();
  after.secrets_lost = false;
  auto fit = check(after);
  if (!fit && !restores) co_return std::unexpected(std::move(fit.error()));
  if (!fit) after.fault = fit.error().message();
  RegisteredPointer registered = std::make_shared<const RegisteredUpstream>(std::move(after));
  RegisteredUpstreams next = *all_.get();
  std::ranges::replace(next, before, registered);

  store::Writes writes;
  expect(writes, name, before->version);
  if (restores) {
    writes.emplace_back(store::RemoveUpstream{name});
  } else {
    writes.emplace_back(store::PutUpstream{to_record(*registered)});
  }
  writes.push_back(audit(who, "upstream.patch", {{"name", name}, {"keys", keys_of(patch)}}));
  store::Writes undo;
  if (of_file && !overridden) {
    undo.emplace_back(store::RemoveUpstream{name});
  } else {
    undo.emplace_back(store::PutUpstream{to_record(*before)});
  }
  undo.push_back(audit(who, "upstream.patch_undone", {{"name", name}}));
  auto changed = co_await change(std::move(next), registered, std::move(writes), std::move(undo));
  if (!changed) co_return std::unexpected(std::move(changed.error()));
  co_return registered;
}

Task<Result<RegisteredPointer>> UpstreamRegistry::do_remove(std::string name, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();

  const RegisteredPointer before = find(name);
  if (!before) co_return std::unexpected(errors::not_found(fmt::format("there is no upstream {}", name)));
  if (before->origin != UpstreamOrigin::runtime) {
    co_return std::unexpected(
        errors::conflict(fmt::format("upstream {} is in the configuration file and can be removed only there; a PATCH "
                                     "with null undoes changes made over the API",
                                     name)));
  }
  RegisteredUpstreams next = *all_.get();
  std::erase(next, before);

  store::Writes writes;
  expect(writes, name, before->version);
  writes.emplace_back(store::RemoveUpstream{name});
  writes.emplace_back(store::RemoveSnapshots{name});
  for (std::size_t part = 0; part < search::kMostVectorParts; ++part)
    writes.emplace_back(store::RemoveSetting{search::vectors_key(name, part)});
  writes.push_back(audit(who, "upstream.delete", {{"name", name}}));
  store::Writes undo;
  undo.emplace_back(store::PutUpstream{to_record(*before)});
  undo.push_back(audit(who, "upstream.delete_undone", {{"name", name}}));
  RegisteredPointer removed = before;
  auto changed = co_await change(std::move(next), removed, std::move(writes), std::move(undo));
  if (!changed) co_return std::unexpected(std::move(changed.error()));
  co_return before;
}

}  // namespace proteus::gateway
