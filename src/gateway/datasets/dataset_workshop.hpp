#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <proteus/error.hpp>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/published.hpp"
#include "datasets/propose/propose.hpp"
#include "datasets/propose/review.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// What operators do before a dataset can be connected: draft a mapping, check it, approve it, take that back. The same
// functions as on the command line, for those who come over the admin API. They name only variables that the
// configuration lets them name: without that, whoever has an admin key could have any database read that a variable of
// this process leads to. Databases are read on a thread of its own, one request after the other.
//
// Functions may be called on any worker's thread.
class DatasetWorkshop {
 public:
  static constexpr std::size_t kMostWaiting = 16;

  // Everything outlives it.
  struct Dependencies {
    DatasetRegistry& registry;
    store::Store& store;
    const Clock& clock;
    Environment environment;
  };
  explicit DatasetWorkshop(Dependencies dependencies);
  // Gives up what still runs.
  ~DatasetWorkshop();
  DatasetWorkshop(const DatasetWorkshop&) = delete;
  DatasetWorkshop& operator=(const DatasetWorkshop&) = delete;

  // Variables with the addresses of databases.
  void set_variables(std::vector<std::string> variables);
  std::vector<std::string> variables() const { return *variables_.get(); }

  Task<Result<datasets::Proposal>> propose(datasets::ProposalRequest request, std::string who);
  Task<Result<datasets::Reviewed>> review(std::string text);
  // Fails with single faults where something refuses the mapping. What is only doubtful comes back.
  struct Ratified {
    std::string name;
    datasets::Ratification ratification;
    datasets::Problems problems;
  };
  Task<Result<Ratified>> ratify(std::string text, std::string who);
  Task<Result<datasets::Ratification>> revoke(std::string name, std::string who);
  // The text of the file of a dataset.
  Task<Result<std::string>> mapping(std::string name);

 private:
  // Keeps count of those who wait for the thread.
  class Place;

  datasets::Patience patience() const;
  template <class Work>
  Task<std::invoke_result_t<Work&>> run(Work work);
  // What somebody is about to do is in the audit before it is done.
  Task<Result<>> note(std::string who, std::string what, std::string_view name, std::string_view sha256);

  const Dependencies dependencies_;
  Published<std::vector<std::string>> variables_;
  const std::shared_ptr<std::atomic<bool>> given_up_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::size_t> waiting_ = 0;
  BackgroundThreads thread_{1};
};

}  // namespace proteus::gateway
