// Stores which datasets are connected, for the next start and for other processes.
#include "gateway/datasets/kept_datasets.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "gateway/datasets/dataset_registry.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kWritesAtOnce = store::limits::kWrites / 2;

}  // namespace

std::map<std::string, std::string> kept_by_name(const std::map<std::string, std::string>& kept,
                                                std::string_view prefix) {
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : kept) {
    if (key.starts_with(prefix)) values[key.substr(prefix.size())] = value;
    if (key != prefix.substr(0, prefix.size() - 1)) continue;
    const auto parsed = json::parse(value);
    if (!parsed || !parsed->is_object()) continue;
    for (const auto& member : parsed->get_object()) {
      if (const auto* text = member.value().if_string()) values[std::string(member.key())] = std::string(*text);
    }
  }
  return values;
}

Task<Result<>> DatasetRegistry::read_kept() {
  const auto kept = co_await dependencies_.store.settings(std::string(kKept));
  if (!kept) co_return std::unexpected(kept.error());
  kept_.clear();
  for (const auto& setting : *kept)
    kept_[setting.key] = setting.value;
  for (const auto& [name, text] : kept_by_name(kept_, kFloors)) {
    auto& floor = floors_[name];
    if (const auto at = datasets::parse_instant(text)) floor = std::max(floor, *at);
  }
  co_return Result<>{};
}

Task<Result<>> DatasetRegistry::follow() {
  co_return co_await asio::co_spawn(dependencies_.control, do_follow(), asio::use_awaitable);
}

// Has the directory read again: another process may have connected what was ratified only now, and its floors must not
// be compared with older content. What was disconnected ends even if the directory does not answer.
Task<Result<>> DatasetRegistry::do_follow() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  {
    const auto turn = co_await one_at_a_time_.take();
    if (auto read = co_await read_kept(); !read) co_return read;
    ++followed_;
    signature_.reset();
    DatasetState next = *state_.get();
    drop_disconnected(next);
    take_over(std::move(next));
  }
  co_await do_look();
  co_return Result<>{};
}

void DatasetRegistry::drop_disconnected(DatasetState& state) const {
  const auto connected = connected_names(state);
  std::erase_if(state.connected,
                [&](const auto& entry) { return std::ranges::find(connected, entry.first) == connected.end(); });
}

std::vector<std::string> DatasetRegistry::connected_names(const DatasetState& state) const {
  std::vector<std::string> names;
  if (dependencies_.shared) {
    for (const auto& [name, hash] : kept_by_name(kept_, kConnected))
      names.push_back(name);
  } else {
    for (const auto& [name, plan] : state.connected)
      names.push_back(name);
  }
  return names;
}

Task<Result<>> DatasetRegistry::write(const DatasetState& state, store::Writes writes, std::string_view ended) {
  std::map<std::string, std::string> next;
  for (const auto& [name, plan] : state.connected)
    next.emplace(fmt::format("{}{}", kConnected, name), plan ? plan->sha256() : std::string());
  for (const auto& [name, at] : floors_)
    next.emplace(fmt::format("{}{}", kFloors, name), datasets::write_instant(at));
  for (const auto& [key, value] : next) {
    const auto kept = kept_.find(key);
    if (kept == kept_.end() || kept->second != value) writes.emplace_back(store::PutSetting{{key, value}});
    if (writes.size() < kWritesAtOnce) continue;
    auto written = co_await dependencies_.store.write(std::exchange(writes, {}));
    if (!written) co_return std::unexpected(std::move(written.error()));
  }
  for (const auto& [key, value] : kept_) {
    if (next.contains(key)) continue;
    // Other processes may still have the dataset connected.
    if (dependencies_.shared && key != fmt::format("{}{}", kConnected, ended)) {
      next.emplace(key, value);
      continue;
    }
    writes.emplace_back(store::RemoveSetting{key});
  }
  auto written = co_await dependencies_.store.write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  kept_ = std::move(next);
  co_return Result<>{};
}

}  // namespace proteus::gateway
