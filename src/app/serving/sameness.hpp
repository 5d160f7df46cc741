#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "store/member_records.hpp"

namespace proteus::app {

// What is the same in processes that are configured alike: not where each listens, what it is called, how it logs.
std::string configuration_hash(const Config& config);
// What is the same in processes whose directories have the same ratified mappings.
std::string mappings_hash(const datasets::DirectoryContent& content);

// What this process tells the others of itself.
class Traits {
 public:
  Traits(std::string name, std::string since, const Config& config);

  // Any thread.
  void configured(const Config& config);
  // Before others are told: where they reach this process.
  void reached_at(std::string url) { peer_url_ = std::move(url); }
  // JSON, for people and for the others.
  std::string write(const gateway::DatasetState* datasets);

 private:
  const std::string name_;
  const std::string since_;
  std::string peer_url_;
  std::mutex mutex_;
  std::string configuration_;
};

// Whether the processes that live are configured alike, as they say themselves. One that is not harms nobody, but
// callers see something else there, and operators should know.
class Sameness {
 public:
  // On one thread. Writes to the log what has become different, or is the same again.
  void look(std::string_view facts, const std::vector<std::string>& facts_of_others);
  // Any thread. Further members of what /readyz answers.
  std::string describe() const;

 private:
  std::map<std::string, std::set<std::string>> differences_;  // by the name of the process
  std::atomic<bool> configuration_ = false;
  std::atomic<bool> mappings_ = false;
};

}  // namespace proteus::app
