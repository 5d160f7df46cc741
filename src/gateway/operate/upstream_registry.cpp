#include "gateway/operate/upstream_registry.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "gateway/operate/upstream_hash.hpp"
#include "json/canonical.hpp"
#include "json/fault_error.hpp"
#include "json/text.hpp"
#include "net/http/url.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

using providers::UpstreamEntry;
using providers::UpstreamSettings;

namespace {

constexpr std::string_view kWhat = "the upstream";
constexpr std::string_view kReload = "configuration";

std::string random_id() {
  std::string id;
  for (const char byte : random_bytes(16))
    id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return id;
}

Egress::Origins origins_of(const std::map<std::string, UpstreamEntry, std::less<>>& entries) {
  Egress::Origins origins;
  for (const auto& [name, entry] : entries) {
    if (const auto url = net::Url::parse(entry.settings.url)) origins.emplace(url->origin());
    if (const auto issuer = net::Url::parse(entry.settings.authentication.oauth.issuer))
      origins.emplace(issuer->origin());
  }
  return origins;
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

Task<Result<>> UpstreamRegistry::load(Entries file, UpstreamSettings defaults, RegistrationSettings registration) {
  co_return co_await asio::co_spawn(dependencies_.control,
                                    do_load(std::move(file), std::move(defaults), std::move(registration)),
                                    asio::use_awaitable);
}

Task<Result<RegisteredPointer>> UpstreamRegistry::create(boost::json::value given, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_create(std::move(given), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<RegisteredPointer>> UpstreamRegistry::patch(std::string name, boost::json::value patch, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_patch(std::move(name), std::move(patch), std::move(who)),
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
  if (!registered.fault.empty()) log::error("upstream {} is not served: {}", registered.name(), registered.fault);
  return std::make_shared<const RegisteredUpstream>(std::move(registered));
}

store::Write UpstreamRegistry::audit(std::string who, std::string what, boost::json::object detail) const {
  return store::AppendAudit{{.number = 0,
                             .at = store::to_time(dependencies_.clock.wall()),
                             .who = std::move(who),
                             .what = std::move(what),
                             .detail = boost::json::serialize(detail)}};
}

Task<Result<>> UpstreamRegistry::apply(RegisteredUpstreams next) {
  Gateway::Settings settings;
  for (const auto& one : next) {
    if (one->fault.empty()) settings.push_back(one->entry.settings);
  }
  if (auto set = co_await dependencies_.gateway.set_upstreams(std::move(settings)); !set) co_return set;
  all_.set(std::make_shared<const RegisteredUpstreams>(std::move(next)));
  co_return Result<>{};
}

Task<Result<>> UpstreamRegistry::change(RegisteredUpstreams next, store::Writes writes, store::Writes undo) {
  auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  auto applied = co_await apply(std::move(next));
  if (applied) co_return applied;
  const auto undone = co_await dependencies_.store.write(std::move(undo));
  if (!undone) log::error("a change of an upstream that failed is still in the store: {}", undone.error().message());
  co_return applied;
}

Task<Result<>> UpstreamRegistry::do_load(Entries file, UpstreamSettings defaults, RegistrationSettings registration) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();

  auto records = co_await dependencies_.store.upstreams();
  if (!records) co_return std::unexpected(std::move(records.error()));
  std::map<std::string_view, const store::UpstreamRecord*> by_name;
  for (const auto& record : *records)
    by_name.emplace(record.name, &record);
  std::map<std::string, UpstreamEntry, std::less<>> entries;
  for (const auto& entry : file)
    entries.emplace(entry.settings.name, entry);
  dependencies_.egress.trust(origins_of(entries));
  auto rules_before = std::exchange(rules_, RegistrationRules(registration, file, defaults));

  RegisteredUpstreams next;
  std::set<std::string, std::less<>> waiting;
  store::Writes writes;
  const auto drop = [&](const store::UpstreamRecord& record, std::string_view why) {
    log::warning("what was changed of upstream {} over the API no longer holds: {}", record.name, why);
    writes.emplace_back(store::RemoveUpstream{record.name});
    writes.push_back(audit(std::string(kReload), "upstream.override_dropped", {{"name", record.name}}));
  };
  for (const auto& entry : file) {
    const auto found = by_name.find(entry.settings.name);
    const auto* record = found == by_name.end() ? nullptr : found->second;
    if (record != nullptr && record->origin == store::Origin::runtime) {
      log::warning(
          "upstream {} was registered over the API and is in the configuration file, too: the file's is served",
          record->name);
      waiting.insert(record->name);
    } else if (record != nullptr && record->file_hash == hash_of(entry)) {
      next.push_back(checked(from_record(*record, entry.settings)));
      continue;
    } else if (record != nullptr) {
      drop(*record, "the file has another entry now");
    }
    next.push_back(checked(from_file(entry)));
  }
  for (const auto& record : *records) {
    if (entries.contains(record.name)) continue;
    if (record.origin == store::Origin::runtime) {
      next.push_back(checked(from_record(record, defaults)));
    } else {
      drop(record, "the file does not have it any more");
    }
  }

  if (auto applied = co_await apply(std::move(next)); !applied) {
    dependencies_.egress.trust(origins_of(file_));
    rules_ = std::move(rules_before);
    co_return applied;
  }
  file_ = std::move(entries);
  waiting_ = std::move(waiting);
  defaults_ = std::move(defaults);
  if (writes.empty()) co_return Result<>{};
  const auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) log::warning("what no longer holds is still in the store: {}", written.error().message());
  co_return Result<>{};
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
  auto registered = std::make_shared<const RegisteredUpstream>(RegisteredUpstream{.id = random_id(),
                                                                                  .created_at = now,
                                                                                  .updated_at = now,
                                                                                  .origin = UpstreamOrigin::runtime,
                                                                                  .entry = std::move(*entry),
                                                                                  .fault = {}});
  if (auto fit = check(*registered); !fit) co_return std::unexpected(std::move(fit.error()));
  next.push_back(registered);

  store::Writes writes;
  writes.emplace_back(store::PutUpstream{to_record(*registered)});
  writes.push_back(audit(who, "upstream.create", {{"name", name}, {"keys", keys_of(given)}}));
  store::Writes undo;
  undo.emplace_back(store::RemoveUpstream{name});
  undo.push_back(audit(who, "upstream.create_undone", {{"name", name}}));
  auto changed = co_await change(std::move(next), std::move(writes), std::move(undo));
  if (!changed) co_return std::unexpected(std::move(changed.error()));
  co_return registered;
}

Task<Result<RegisteredPointer>> UpstreamRegistry::do_patch(std::string name, boost::json::value patch,
                                                           std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();

  const RegisteredPointer before = find(name);
  if (!before) co_return std::unexpected(errors::not_found(fmt::format("there is no upstream {}", name)));
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
  UpstreamEntry from = before->entry;
  if (of_file && !overridden) from.given.clear();
  const UpstreamSettings& base = of_file ? file_.find(name)->second.settings : defaults_;
  auto entry = providers::patch_upstream(from, patch, base);
  if (!entry) co_return std::unexpected(errors::faults(kWhat, entry.error()));
  if (of_file) entry->given.erase("name");
  const bool restores = of_file && entry->given.empty();
  if (restores && !overridden) co_return before;

  RegisteredUpstream after = *before;
  after.origin = restores ? UpstreamOrigin::file : of_file ? UpstreamOrigin::file_override : UpstreamOrigin::runtime;
  after.entry = restores ? file_.find(name)->second : std::move(*entry);
  after.updated_at = store::to_time(dependencies_.clock.wall());
  after.fault.clear();
  after.secrets_lost = false;
  auto fit = check(after);
  if (!fit && !restores) co_return std::unexpected(std::move(fit.error()));
  if (!fit) after.fault = fit.error().message();
  auto registered = std::make_shared<const RegisteredUpstream>(std::move(after));
  RegisteredUpstreams next = *all_.get();
  std::ranges::replace(next, before, RegisteredPointer(registered));

  store::Writes writes;
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
  auto changed = co_await change(std::move(next), std::move(writes), std::move(undo));
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
  writes.emplace_back(store::RemoveUpstream{name});
  writes.emplace_back(store::RemoveSnapshots{name});
  writes.push_back(audit(who, "upstream.delete", {{"name", name}}));
  store::Writes undo;
  undo.emplace_back(store::PutUpstream{to_record(*before)});
  undo.push_back(audit(who, "upstream.delete_undone", {{"name", name}}));
  auto changed = co_await change(std::move(next), std::move(writes), std::move(undo));
  if (!changed) co_return std::unexpected(std::move(changed.error()));
  co_return before;
}

}  // namespace proteus::gateway
