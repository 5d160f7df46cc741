// Determines which upstreams should be served, from the file and the store: at start-up, at a reload, and when another
// process has changed some.
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "gateway/operate/upstream_hash.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "net/http/url.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

using providers::UpstreamEntry;
using providers::UpstreamSettings;

namespace {

constexpr std::string_view kReload = "configuration";

Egress::Origins origins_of(const std::map<std::string, UpstreamEntry, std::less<>>& entries) {
  Egress::Origins origins;
  for (const auto& [name, entry] : entries) {
    if (const auto url = net::Url::parse(entry.settings.url)) origins.emplace(url->origin());
    if (const auto issuer = net::Url::parse(entry.settings.authentication.oauth.issuer))
      origins.emplace(issuer->origin());
  }
  return origins;
}

}  // namespace

Task<Result<>> UpstreamRegistry::load(Entries file, UpstreamSettings defaults, RegistrationSettings registration) {
  co_return co_await asio::co_spawn(dependencies_.control,
                                    do_load(std::move(file), std::move(defaults), std::move(registration)),
                                    asio::use_awaitable);
}

Task<Result<>> UpstreamRegistry::follow() {
  co_return co_await asio::co_spawn(dependencies_.control, do_follow(), asio::use_awaitable);
}

UpstreamRegistry::Merged UpstreamRegistry::merge(const Entries& file, const UpstreamSettings& defaults,
                                                 const std::vector<store::UpstreamRecord>& records,
                                                 const Drop& drop) const {
  std::map<std::string_view, const store::UpstreamRecord*> by_name;
  for (const auto& record : records)
    by_name.emplace(record.name, &record);
  std::set<std::string_view> in_file;
  Merged merged;
  for (const auto& entry : file) {
    in_file.insert(entry.settings.name);
    const auto found = by_name.find(entry.settings.name);
    const auto* record = found == by_name.end() ? nullptr : found->second;
    if (record != nullptr && record->origin == store::Origin::runtime) {
      if (!waiting_.contains(record->name)) {
        log::warning(
            "upstream {} was registered over the API and is in the configuration file, too: the file's is served",
            record->name);
      }
      merged.waiting.insert(record->name);
    } else if (record != nullptr && record->file_hash == hash_of(entry)) {
      merged.upstreams.push_back(checked(from_record(*record, entry.settings)));
      continue;
    } else if (record != nullptr) {
      drop(*record, "the file has another entry now");
    }
    RegisteredUpstream registered = from_file(entry);
    // The next override replaces this record, which does not hold here, so its version must be known.
    if (record != nullptr && record->origin == store::Origin::file_override)
      registered.version = record->stored.version;
    merged.upstreams.push_back(checked(std::move(registered)));
  }
  for (const auto& record : records) {
    if (in_file.contains(record.name)) continue;
    if (record.origin == store::Origin::runtime) {
      merged.upstreams.push_back(checked(from_record(record, defaults)));
    } else {
      drop(record, "the file does not have it any more");
    }
  }
  return merged;
}

Task<Result<>> UpstreamRegistry::do_load(Entries file, UpstreamSettings defaults, RegistrationSettings registration) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();

  RegistrationRules rules(registration, file, defaults);
  auto records = co_await dependencies_.store.upstreams();
  std::optional<Error> unread;
  if (!records) {
    const bool is_applied = file == file_order_ && defaults == defaults_ && rules == rules_;
    if (!records_ || is_applied) co_return std::unexpected(std::move(records.error()));
    // A limit that the file sets must not wait for the store, because other parts of the file already count on it.
    unread = std::move(records.error());
    records = *records_;
  }
  std::map<std::string, UpstreamEntry, std::less<>> entries;
  for (const auto& entry : file)
    entries.emplace(entry.settings.name, entry);
  dependencies_.egress.trust(origins_of(entries));
  auto rules_before = std::exchange(rules_, std::move(rules));
  auto waiting_before = std::exchange(waiting_, {});

  store::Writes writes;
  std::set<std::string, std::less<>> dropped;
  auto merged = merge(file, defaults, *records, [&](const store::UpstreamRecord& record, std::string_view why) {
    // During a rollout another process may have another file, for which the override holds.
    if (dependencies_.shared || unread) return;
    dropped.insert(record.name);
    log::warning("the override of upstream {} is dropped: {}", record.name, why);
    writes.emplace_back(store::RemoveUpstream{record.name});
    writes.push_back(audit(std::string(kReload), "upstream.override_dropped", {{"name", record.name}}));
  });

  if (auto applied = co_await apply(std::move(merged.upstreams)); !applied) {
    dependencies_.egress.trust(origins_of(file_));
    rules_ = std::move(rules_before);
    waiting_ = std::move(waiting_before);
    co_return applied;
  }
  file_ = std::move(entries);
  file_order_ = std::move(file);
  waiting_ = std::move(merged.waiting);
  defaults_ = std::move(defaults);
  std::erase_if(*records, [&](const auto& record) { return dropped.contains(record.name); });
  records_ = std::move(*records);
  if (unread) co_return std::unexpected(std::move(*unread));
  if (writes.empty()) co_return Result<>{};
  const auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) log::warning("what no longer holds is still in the store: {}", written.error().message());
  co_return Result<>{};
}

Task<Result<>> UpstreamRegistry::do_follow() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();
  auto records = co_await dependencies_.store.upstreams();
  if (!records) co_return std::unexpected(std::move(records.error()));
  auto merged = merge(file_order_, defaults_, *records, [](const auto&, std::string_view) {});
  waiting_ = std::move(merged.waiting);
  records_ = std::move(*records);
  co_return co_await apply(std::move(merged.upstreams), Gateway::ChangedBy::another);
}

}  // namespace proteus::gateway
