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

#include "base/clock.hpp"
#include "base/published.hpp"
#include "base/settings/environment.hpp"
#include "base/tasks/async_mutex.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "catalog/contexts/manifest.hpp"
#include "datasets/mapping/mapping_directory.hpp"
#include "datasets/sources/source_pool.hpp"
#include "datasets/sources/workup.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// The datasets that exist, and those that are connected. Immutable.
struct DatasetState {
  struct Withdrawal {
    std::string reason;
    store::Time at{};
  };

  datasets::DirectoryContent content;
  std::map<std::string, datasets::PlanPointer, std::less<>> connected;
  std::map<std::string, Withdrawal, std::less<>> withdrawn;  // disconnected because of their file
  std::string fault;                                         // why the directory could not be read last time
  bool offered = false;                                      // whether there are tools of datasets at all

  // Returns the types of a dataset; nothing unless it is ratified.
  std::optional<catalog::DatasetTypes> types_of(std::string_view name) const;
  // Returns the names of all ratified datasets, sorted.
  std::vector<std::string> available() const;
};
using DatasetStatePointer = std::shared_ptr<const DatasetState>;

// When the tools of datasets are offered. `with_directory` spares gateways without datasets the useless tools.
enum class Offering : std::uint8_t { always, with_directory };

// Knows which datasets are connected: agents choose among those that a person has ratified. A connection is kept in the
// store, and ends automatically if the mapping's file is no longer the one that was ratified. Neither listing nor
// connecting opens a source.
//
// The directory is read on a thread of its own, because it may be on a disk that does not answer. Meanwhile everything
// goes on with what was read last.
//
// Members may be called on any worker's thread unless stated otherwise. Changes run one after the other.
class DatasetRegistry {
 public:
  // All references must outlive this object.
  struct Dependencies {
    boost::asio::io_context& control;  // of the gateway's first worker
    store::Store& store;
    const Clock& clock;
    Environment environment;
    // Whether other processes share the store. Each has its own directory, so a dataset whose file is missing here is
    // withdrawn only here.
    bool shared = false;
  };
  DatasetRegistry(Dependencies dependencies, datasets::MappingDirectory directory, Offering offering,
                  datasets::SourcePoolOptions pools = {});
  ~DatasetRegistry();
  DatasetRegistry(const DatasetRegistry&) = delete;
  DatasetRegistry& operator=(const DatasetRegistry&) = delete;

  // Sets the callback for changes of the ratified or connected datasets or of their mappings. Called on the control
  // thread. Must be set before `load`.
  using OnChanged = std::function<void(const DatasetState&)>;
  void set_on_changed(OnChanged on_changed) { on_changed_ = std::move(on_changed); }
  // Sets the check of a tool's name, which fails with the reason if no tool can have the name. Must be set before a
  // dataset is connected.
  using NameCheck = std::function<Result<>(const std::string& tool)>;
  void set_name_check(NameCheck check) { name_check_ = std::move(check); }

  // Connects the datasets that were connected before, as far as they are still ratified, and starts to watch the
  // directory.
  Task<Result<>> load();
  // Changes the directory. Does nothing if path and offering are the same.
  Task<> set_directory(std::filesystem::path path, Offering offering);
  // In a cluster, applies what other processes have connected and disconnected.
  Task<Result<>> follow();
  // Checks whether files have changed. Returns after `kLookPatience` even if the directory does not answer.
  static constexpr std::chrono::seconds kLookPatience{5};
  Task<> look();
  // Returns the directory as it is configured now.
  Task<std::shared_ptr<const datasets::MappingDirectory>> directory();

  DatasetStatePointer state() const { return state_.get(); }

  enum class Connecting : std::uint8_t { fresh, already };
  Task<Result<Connecting>> connect(std::string name, std::string who);
  Task<Result<>> disconnect(std::string name, std::string who);

  // Reads the source of a connected dataset. Ends soon after `given_up` becomes true.
  Task<Result<datasets::WorkupDocument>> work_up(std::string name, datasets::WorkupRequest request,
                                                 datasets::SourcePool::GivenUp given_up);

  // Called on the control thread, once no dataset is used any more.
  Task<> stop();

  // Returns the name of a connected dataset's tool.
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

  // What the thread has seen of the directory.
  struct Seen {
    std::filesystem::path path;
    std::string signature;
    // Nothing if nothing has changed, or if somebody is writing at the moment.
    std::optional<Result<datasets::DirectoryContent>> content;
    bool exists = false;
  };
  static Seen see(const datasets::MappingDirectory& directory, const std::optional<std::string>& signature);
  // Has the directory looked at once more. Returns the number of that look, which begins after this call.
  std::uint64_t want_look();
  Task<> look_as_wanted();
  Task<> until_looked(std::uint64_t number, Deadline deadline);
  Task<> take_in(Seen seen);
  // Withdraws datasets that are no longer ratified by this content.
  Task<> apply(DatasetState next);
  bool remember(datasets::DirectoryContent& content);
  void drop_disconnected(DatasetState& state) const;
  void take_over(DatasetState next);
  void drop_pools(const DatasetState& state);
  // Returns the names of connected datasets. In a cluster also those whose files are missing here.
  std::vector<std::string> connected_names(const DatasetState& state) const;
  // Stores what has changed, together with `writes`. `ended` is the dataset that was disconnected, if any.
  Task<Result<>> write(const DatasetState& state, store::Writes writes, std::string_view ended = {});
  store::Write audit(std::string who, std::string what, std::string_view name, std::string_view reason = {}) const;

  const Dependencies dependencies_;
  datasets::MappingDirectory directory_;
  const datasets::SourcePoolOptions pool_options_;
  Published<DatasetState> state_;
  OnChanged on_changed_;
  NameCheck name_check_;
  TaskGroup background_;

  // The following members belong to the control thread.
  Offering offering_;
  std::optional<std::string> signature_;  // of the directory as it was read last; nothing if it must be read again
  // Numbers of looks at the directory: the last one that somebody wants, that has begun, and that has ended.
  std::uint64_t look_wanted_ = 0;
  std::uint64_t look_begun_ = 0;
  std::uint64_t look_ended_ = 0;
  bool is_looking_ = false;
  std::multimap<std::uint64_t, Deadline*> waiting_for_look_;
  std::map<std::string, store::Time, std::less<>> floors_;  // time of the newest record seen; older ones do not count
  std::uint64_t followed_ = 0;                              // how often what other processes did was read
  std::map<std::string, std::string> kept_;                 // the settings as the store has them
  AsyncMutex one_at_a_time_;

  BackgroundThreads files_{1};
  BackgroundThreads pool_ends_{1};
  std::mutex mutex_;
  std::map<std::string, Pool, std::less<>> pools_;  // guarded by mutex_
};

}  // namespace proteus::gateway
