#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/published.hpp"
#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "catalog/contexts/manifest.hpp"
#include "datasets/mapping/mapping_directory.hpp"
#include "datasets/sources/source_pool.hpp"
#include "datasets/sources/workup.hpp"
#include "gateway/core/async_mutex.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// The datasets there are, and those that are connected. Immutable.
struct DatasetState {
  struct Withdrawal {
    std::string reason;
    store::Time at{};
  };

  datasets::DirectoryContent content;
  std::map<std::string, datasets::PlanPointer, std::less<>> connected;
  std::map<std::string, Withdrawal, std::less<>> withdrawn;  // connected once, and ended by what became of the file
  std::string fault;                                         // why the directory could not be read the last time
  bool offered = false;                                      // whether the tools of datasets are there at all

  // The types of one that may be connected, or is; nothing for any other.
  std::optional<catalog::DatasetTypes> types_of(std::string_view name) const;
  // Names that may be connected, or are.
  std::vector<std::string> available() const;
};
using DatasetStatePointer = std::shared_ptr<const DatasetState>;

// When the tools of datasets are offered: a gateway that nobody has given any is not to be cluttered with them.
enum class Offering : std::uint8_t { always, with_directory };

// Which datasets are connected: an agent's choice among what a person has ratified. A connection is kept in the store,
// and ends by itself when the mapping's file is no longer the one that was ratified. Neither listing nor connecting
// opens a source.
//
// Functions may be called on any worker's thread; changes happen one after the other.
class DatasetRegistry {
 public:
  // Everything outlives it.
  struct Dependencies {
    boost::asio::io_context& control;  // of the gateway's first worker
    store::Store& store;
    const Clock& clock;
    Environment environment;
    // With other processes, each of which has its own directory: one that lacks a file withdraws it here alone.
    bool shared = false;
  };
  DatasetRegistry(Dependencies dependencies, datasets::MappingDirectory directory, Offering offering,
                  datasets::SourcePoolOptions pools = {});
  ~DatasetRegistry();
  DatasetRegistry(const DatasetRegistry&) = delete;
  DatasetRegistry& operator=(const DatasetRegistry&) = delete;

  // Called on the control thread when other datasets are ratified or connected, or one with another mapping. Before
  // `load`.
  using OnChanged = std::function<void(const DatasetState&)>;
  void set_on_changed(OnChanged on_changed) { on_changed_ = std::move(on_changed); }
  // Says why a tool cannot have this name. Before anything is connected.
  using NameCheck = std::function<Result<>(const std::string& tool)>;
  void set_name_check(NameCheck check) { name_check_ = std::move(check); }

  // Connects what was connected before, as far as it is still ratified, and watches the directory from then on.
  Task<Result<>> load();
  // Another directory, or the same once more.
  Task<> set_directory(std::filesystem::path path, Offering offering);
  // Where other processes share the store: they connected or disconnected some.
  Task<Result<>> follow();
  // Looks whether files have changed.
  Task<> look();
  // The directory as it is configured now.
  Task<std::shared_ptr<const datasets::MappingDirectory>> directory();

  DatasetStatePointer state() const { return state_.get(); }

  enum class Connecting : std::uint8_t { fresh, already };
  Task<Result<Connecting>> connect(std::string name, std::string who);
  Task<Result<>> disconnect(std::string name, std::string who);

  // Reads the source of a connected dataset. `given_up`, set to true, ends it soon.
  Task<Result<datasets::WorkupDocument>> work_up(std::string name, datasets::WorkupRequest request,
                                                 datasets::SourcePool::GivenUp given_up);

  // On the control thread, when nobody asks any more.
  Task<> stop();

  // The tool of a connected dataset.
  static std::string tool_of(std::string_view name);

 private:
  struct Pool {
    datasets::PlanPointer plan;
    std::shared_ptr<datasets::SourcePool> pool;
  };

  Task<Result<>> do_load();
  Task<> do_set_directory(std::filesystem::path path, Offering offering);
  Task<> do_look();
  Task<std::shared_ptr<const datasets::MappingDirectory>> do_directory();
  Task<Result<>> do_follow();
  Task<Result<>> read_kept();
  Task<Result<Connecting>> do_connect(std::string name, std::string who);
  Task<Result<>> do_disconnect(std::string name, std::string who);
  Task<> watch();

  // Reads the directory where it has changed, and withdraws what is no longer ratified.
  Task<> update(bool unchanged_too);
  bool remember(datasets::DirectoryContent& content);
  void take_over(DatasetState next);
  void drop_pools(const DatasetState& state);
  // Names that are connected, whether or not their files are here.
  std::vector<std::string> connected_names(const DatasetState& state) const;
  // `ended` is one that was disconnected.
  Task<Result<>> write(const DatasetState& state, store::Writes writes, std::string_view ended = {});
  store::Write audit(std::string who, std::string what, std::string_view name, std::string_view reason = {}) const;

  const Dependencies dependencies_;
  datasets::MappingDirectory directory_;
  const datasets::SourcePoolOptions pool_options_;
  Published<DatasetState> state_;
  OnChanged on_changed_;
  NameCheck name_check_;
  TaskGroup background_;

  // Of the control thread.
  Offering offering_;
  std::string signature_;
  std::map<std::string, store::Time, std::less<>> floors_;  // no older record counts
  std::map<std::string, std::string> kept_;                 // the settings as they are in the store
  AsyncMutex one_at_a_time_;

  BackgroundThreads pool_ends_{1};
  std::mutex mutex_;
  std::map<std::string, Pool, std::less<>> pools_;  // guarded by mutex_
};

}  // namespace proteus::gateway
