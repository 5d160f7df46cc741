#include "gateway/datasets/dataset_registry.hpp"

#include <algorithm>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/audit_entry.hpp"
#include "gateway/datasets/kept_datasets.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

using datasets::DatasetFile;
using datasets::DatasetStatus;
using datasets::DirectoryContent;

namespace {

constexpr std::string_view kGateway = "gateway";
constexpr std::chrono::seconds kBetweenLooks{1};
constexpr std::size_t kMostConnected = 200;

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none is available";
  std::string all;
  for (const auto& name : names)
    all += (all.empty() ? "available: " : ", ") + name;
  return all;
}

Error no_plain_name() {
  return errors::invalid(
      "a dataset is connected by its name alone: letters, digits, hyphens and underscores. Addresses and paths are "
      "never taken; only what a person has ratified can be connected");
}

// Returns a text that differs if others must be notified of the change.
std::string face_of(const DatasetState& state) {
  std::string face = state.offered ? "offered" : "";
  for (const auto& [name, plan] : state.connected)
    face += fmt::format(";{} {}", name, plan ? plan->sha256() : std::string());
  face += '|';
  for (const DatasetFile& file : state.content.files) {
    if (file.status == DatasetStatus::ratified) face += fmt::format(";{} {}", file.name, file.sha256);
  }
  return face;
}

std::string why_gone(const DatasetFile* file) {
  if (file == nullptr) return "its file is gone from the directory of mappings";
  return file->reason;
}

}  // namespace

std::vector<std::string> DatasetState::available() const {
  std::vector<std::string> names;
  for (const DatasetFile& file : content.files) {
    if (file.status == DatasetStatus::ratified) names.push_back(file.name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<catalog::DatasetTypes> DatasetState::types_of(std::string_view name) const {
  const DatasetFile* const file = content.find(name);
  if (file == nullptr || file->status != DatasetStatus::ratified) return std::nullopt;
  return catalog::DatasetTypes{file->plan->mapping().entity_types(), file->plan->mapping().relationship_types()};
}

DatasetRegistry::DatasetRegistry(Dependencies dependencies, datasets::MappingDirectory directory, Offering offering,
                                 datasets::SourcePoolOptions pools)
    : dependencies_(std::move(dependencies)),
      directory_(std::move(directory)),
      pool_options_(pools),
      state_(std::make_shared<const DatasetState>()),
      background_(dependencies_.control.get_executor()),
      offering_(offering),
      one_at_a_time_(dependencies_.control.get_executor()) {}

DatasetRegistry::~DatasetRegistry() = default;

std::string DatasetRegistry::tool_of(std::string_view name) { return fmt::format("workup_{}", name); }

Task<Result<>> DatasetRegistry::load() {
  co_return co_await asio::co_spawn(dependencies_.control, do_load(), asio::use_awaitable);
}
Task<> DatasetRegistry::set_directory(std::filesystem::path path, Offering offering) {
  co_await asio::co_spawn(dependencies_.control, do_set_directory(std::move(path), offering), asio::use_awaitable);
}
Task<std::shared_ptr<const datasets::MappingDirectory>> DatasetRegistry::directory() {
  co_return co_await asio::co_spawn(dependencies_.control, do_directory(), asio::use_awaitable);
}
Task<> DatasetRegistry::look() { co_await asio::co_spawn(dependencies_.control, do_look(), asio::use_awaitable); }
Task<Result<DatasetRegistry::Connecting>> DatasetRegistry::connect(std::string name, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_connect(std::move(name), std::move(who)),
                                    asio::use_awaitable);
}
Task<Result<>> DatasetRegistry::disconnect(std::string name, std::string who) {
  co_return co_await asio::co_spawn(dependencies_.control, do_disconnect(std::move(name), std::move(who)),
                                    asio::use_awaitable);
}

Task<Result<>> DatasetRegistry::do_load() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  {
    const auto turn = co_await one_at_a_time_.take();
    if (auto read = co_await read_kept(); !read) co_return read;
    DatasetState before;
    for (const auto& [name, hash] : kept_by_name(kept_, kConnected))
      before.connected.emplace(name, nullptr);
    state_.set(std::make_shared<const DatasetState>(std::move(before)));
  }
  co_await until_looked(want_look(), Deadline::never(dependencies_.control.get_executor()));
  background_.spawn("watching the directory of mappings", watch());
  co_return Result<>{};
}

Task<> DatasetRegistry::watch() {
  for (;;) {
    co_await sleep_for(kBetweenLooks);
    (void)want_look();
  }
}

Task<> DatasetRegistry::do_set_directory(std::filesystem::path path, Offering offering) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  {
    const auto turn = co_await one_at_a_time_.take();
    if (path == directory_.path() && offering == offering_) co_return;
    offering_ = offering;
    directory_.set_path(std::move(path));
    signature_.reset();
  }
  co_await do_look();
}

Task<std::shared_ptr<const datasets::MappingDirectory>> DatasetRegistry::do_directory() {
  co_return std::make_shared<const datasets::MappingDirectory>(directory_);
}

Task<> DatasetRegistry::do_look() {
  co_await until_looked(want_look(), Deadline(dependencies_.control.get_executor(), kLookPatience, kLookPatience));
}

std::uint64_t DatasetRegistry::want_look() {
  look_wanted_ = look_begun_ + 1;
  if (!std::exchange(is_looking_, true)) background_.spawn("looking for mappings", look_as_wanted());
  return look_wanted_;
}

Task<> DatasetRegistry::look_as_wanted() {
  const std::shared_ptr<void> done(nullptr, [this](void*) { is_looking_ = false; });
  while (look_begun_ < look_wanted_) {
    const std::uint64_t number = ++look_begun_;
    const std::shared_ptr<void> ended(nullptr, [this, number](void*) {
      look_ended_ = number;
      for (auto each = waiting_for_look_.begin(); each != waiting_for_look_.end() && each->first <= number; ++each)
        each->second->end();
    });
    for (bool taken = false; !taken;) {
      const auto followed = followed_;
      auto seen =
          co_await files_.run([directory = directory_, signature = signature_] { return see(directory, signature); });
      const auto turn = co_await one_at_a_time_.take();
      // What other processes did meanwhile may concern files newer than those that were seen.
      taken = followed == followed_;
      if (taken) co_await take_in(std::move(seen));
    }
  }
}

Task<> DatasetRegistry::until_looked(std::uint64_t number, Deadline deadline) {
  if (look_ended_ >= number) co_return;
  const auto waiting = waiting_for_look_.emplace(number, &deadline);
  const std::shared_ptr<void> done(nullptr, [&](void*) { waiting_for_look_.erase(waiting); });
  co_await deadline.wait();
}

DatasetRegistry::Seen DatasetRegistry::see(const datasets::MappingDirectory& directory,
                                           const std::optional<std::string>& signature) {
  Seen seen{.path = directory.path(), .signature = directory.signature(), .content = {}, .exists = directory.exists()};
  if (seen.signature == signature) return seen;
  auto content = directory.read();
  if (!content) {
    seen.content = std::unexpected(std::move(content.error()));
  } else if (*content) {
    seen.content = std::move(**content);
  }
  return seen;
}

// Remembers the newest record of each dataset. An older record that reappears, from a backup or from somebody who kept
// it, is authentic but no longer valid. Returns whether there was a newer record.
bool DatasetRegistry::remember(DirectoryContent& content) {
  bool grew = false;
  for (DatasetFile& file : content.files) {
    if (!file.ratified || file.status == DatasetStatus::duplicate) continue;
    auto& floor = floors_[file.name];
    if (file.ratified->at > floor) {
      floor = file.ratified->at;
      grew = true;
    } else if (file.ratified->at < floor) {
      file.status = DatasetStatus::superseded;
      file.reason =
          "the record in ratified.toml is older than one that was in force before; ratify the file again to use it";
    }
  }
  return grew;
}

Task<> DatasetRegistry::take_in(Seen seen) {
  if (!seen.content || seen.path != directory_.path()) co_return;
  DatasetState next = *state_.get();
  if (!*seen.content) {
    // Keeps what was ratified: a disk that does not answer says nothing about a person's approval.
    const std::string& why = seen.content->error().message();
    if (next.fault != why) log::error("{}", why);
    next.fault = why;
    state_.set(std::make_shared<const DatasetState>(std::move(next)));
    co_return;
  }
  next.fault.clear();
  next.content = std::move(**seen.content);
  next.offered = offering_ == Offering::always || seen.exists;
  for (const auto& file : next.content.files) {
    if (file.status == DatasetStatus::invalid) log::warning("{}: {}", log::printable(file.file), file.reason);
  }
  for (const auto& fault : next.content.faults)
    log::warning("{}: {}", datasets::MappingDirectory::kRatified, log::printable(fault));
  co_await apply(std::move(next));
  signature_ = std::move(seen.signature);
}

Task<> DatasetRegistry::apply(DatasetState next) {
  const DatasetStatePointer before = state_.get();
  const bool remembered = remember(next.content);
  store::Writes writes;
  const auto connected = connected_names(*before);
  drop_disconnected(next);
  for (const auto& name : connected) {
    const DatasetFile* const file = next.content.find(name);
    if (file != nullptr && file->status == DatasetStatus::ratified) {
      next.connected[name] = file->plan;
      next.withdrawn.erase(name);
      continue;
    }
    const bool was_connected = next.connected.erase(name) > 0;
    if (!was_connected && next.withdrawn.contains(name)) continue;
    next.withdrawn[name] = {why_gone(file), store::to_time(dependencies_.clock.wall())};
    log::warning("the dataset {} is withdrawn: {}", name, why_gone(file));
    if (!dependencies_.shared) writes.push_back(audit(std::string(kGateway), "dataset.withdraw", name, why_gone(file)));
  }
  if (remembered || !writes.empty()) {
    // A dataset that is no longer ratified is not served, even if the store cannot record that; the next start finds
    // out again.
    if (auto written = co_await write(next, std::move(writes)); !written)
      log::error("the state of datasets could not be stored: {}", written.error().message());
  }
  take_over(std::move(next));
}

void DatasetRegistry::take_over(DatasetState next) {
  const bool same = face_of(*state_.get()) == face_of(next);
  const auto now = std::make_shared<const DatasetState>(std::move(next));
  drop_pools(*now);
  state_.set(now);
  if (!same && on_changed_) on_changed_(*now);
}

void DatasetRegistry::drop_pools(const DatasetState& state) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pools_, [&](auto& entry) {
    const auto found = state.connected.find(entry.first);
    return found == state.connected.end() || !found->second || found->second->sha256() != entry.second.plan->sha256();
  });
}

store::Write DatasetRegistry::audit(std::string who, std::string what, std::string_view name,
                                    std::string_view reason) const {
  boost::json::object detail{{"name", name}};
  if (!reason.empty()) detail.emplace("reason", reason);
  return audit_entry(dependencies_.clock, std::move(who), std::move(what), detail);
}

Task<Result<DatasetRegistry::Connecting>> DatasetRegistry::do_connect(std::string name, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (!datasets::check_dataset_name(name)) co_return std::unexpected(no_plain_name());
  co_await do_look();
  const auto turn = co_await one_at_a_time_.take();
  const DatasetStatePointer before = state_.get();
  const DatasetFile* const file = before->content.find(name);
  if (file == nullptr) {
    co_return std::unexpected(
        errors::not_found(fmt::format("there is no dataset {}; {}", name, listed(before->available()))));
  }
  if (file->status != DatasetStatus::ratified) {
    co_return std::unexpected(errors::conflict(fmt::format("the dataset {} cannot be connected: {}. For now, {}", name,
                                                           file->reason, listed(before->available()))));
  }
  if (before->connected.contains(name)) co_return Connecting::already;
  if (before->connected.size() == kMostConnected)
    co_return std::unexpected(errors::exhausted(fmt::format("{} datasets are connected already", kMostConnected)));
  if (name_check_) {
    if (auto checked = name_check_(tool_of(name)); !checked) co_return std::unexpected(std::move(checked.error()));
  }
  DatasetState next = *before;
  next.connected[name] = file->plan;
  next.withdrawn.erase(name);
  store::Writes writes;
  writes.push_back(audit(std::move(who), "dataset.connect", name));
  if (auto written = co_await write(next, std::move(writes)); !written)
    co_return std::unexpected(std::move(written.error()));
  take_over(std::move(next));
  co_return Connecting::fresh;
}

Task<Result<>> DatasetRegistry::do_disconnect(std::string name, std::string who) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto turn = co_await one_at_a_time_.take();
  const DatasetStatePointer before = state_.get();
  const bool is_kept = dependencies_.shared && kept_.contains(fmt::format("{}{}", kConnected, name));
  if (!before->connected.contains(name) && !is_kept) {
    const bool known = before->content.find(name) != nullptr;
    co_return std::unexpected(errors::not_found(fmt::format(
        "{} dataset {}", known ? "nothing is connected to the" : "there is no", log::printable(name, 100))));
  }
  DatasetState next = *before;
  next.connected.erase(name);
  store::Writes writes;
  writes.push_back(audit(std::move(who), "dataset.disconnect", name));
  if (auto written = co_await write(next, std::move(writes), name); !written)
    co_return std::unexpected(std::move(written.error()));
  take_over(std::move(next));
  co_return Result<>{};
}

Task<Result<datasets::WorkupDocument>> DatasetRegistry::work_up(std::string name, datasets::WorkupRequest request,
                                                                datasets::SourcePool::GivenUp given_up) {
  const DatasetStatePointer state = state_.get();
  const auto found = state->connected.find(name);
  if (found == state->connected.end() || !found->second)
    co_return std::unexpected(errors::not_found(fmt::format("the dataset {} is not connected", name)));
  const datasets::PlanPointer plan = found->second;
  const std::string& variable = plan->mapping().dsn_env;
  auto value = dependencies_.environment(variable);
  if (!value || value->empty()) {
    co_return std::unexpected(errors::unreachable(fmt::format(
        "the environment variable {} of the gateway, which says where the source is, is not set", variable)));
  }
  const Secret dsn(std::move(*value));
  if (auto checked = datasets::check_dsn(dsn); !checked) {
    co_return std::unexpected(errors::unreachable(
        fmt::format("the environment variable {} of the gateway {}", variable, checked.error().message())));
  }
  std::shared_ptr<datasets::SourcePool> pool;
  {
    const std::lock_guard lock(mutex_);
    Pool& kept = pools_[name];
    if (!kept.pool || kept.plan->sha256() != plan->sha256())
      kept = {plan, datasets::SourcePool::make(pool_ends_, dsn, plan->mapping().schema, pool_options_)};
    pool = kept.pool;
  }
  std::function<Result<datasets::WorkupDocument>(datasets::Source&, const datasets::Patience&)> work =
      [plan, request = std::move(request)](datasets::Source& source,
                                           const datasets::Patience& patience) -> Result<datasets::WorkupDocument> {
    auto workup = datasets::work_up(*plan, source, request, patience);
    if (!workup) return std::unexpected(std::move(workup.error()));
    return datasets::WorkupDocument{.json = datasets::write_workup(*workup),
                                    .text = datasets::describe_workup(*workup)};
  };
  co_return co_await datasets::SourcePool::run<datasets::WorkupDocument>(std::move(pool), std::move(work),
                                                                         std::move(given_up));
}

Task<> DatasetRegistry::stop() {
  background_.cancel();
  co_await background_.join();
  const std::lock_guard lock(mutex_);
  pools_.clear();
}

}  // namespace proteus::gateway
