#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "store/member_records.hpp"

namespace proteus::app {

// Returns a hash of the configuration, apart from what may differ between processes: addresses, threads, TLS, grace,
// trusted proxies, [cluster], [log], [datasets], [telemetry], the data directory, the values of secrets, and the
// directories of files with secrets.
std::string configuration_hash(const Config& config);
// Returns a hash that is equal for directories with the same ratified mappings.
std::string mappings_hash(const datasets::DirectoryContent& content);

// The facts that this process publishes to the other processes of the cluster.
class Traits {
 public:
  Traits(std::string name, std::string since, const Config& config);

  // Thread-safe. Updates the facts after a reload.
  void configured(const Config& config);
  // Sets the URL at which peers reach this process. Must be called before the process joins the cluster.
  void reached_at(std::string url) { peer_url_ = std::move(url); }
  // Returns the facts as JSON, for people and for other processes. `datasets` may be null.
  std::string write(const gateway::DatasetState* datasets);

 private:
  const std::string name_;
  const std::string since_;
  std::string peer_url_;
  std::mutex mutex_;
  std::string configuration_;
};

// Compares the facts of the live processes, as each of them publishes them. A process that is configured differently
// harms nobody, but its callers see something else, and operators should know.
class Sameness {
 public:
  // Logs new differences, and those that have ended. `facts` are those of this process. Must always be called on the
  // same thread.
  void look(std::string_view facts, const std::vector<store::MemberRecord>& others);
  // Thread-safe. Returns members to append to the answer of /readyz.
  std::string describe() const;

 private:
  // By the name of the member: [cluster] name is the same for processes that share a file.
  std::map<std::string, std::vector<std::string_view>> differences_;
  std::atomic<bool> configuration_ = false;
  std::atomic<bool> mappings_ = false;
};

}  // namespace proteus::app
