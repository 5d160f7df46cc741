#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/published.hpp"
#include "base/settings/environment.hpp"
#include "base/tasks/background_threads.hpp"
#include "datasets/propose/propose.hpp"
#include "datasets/propose/review.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// What operators do before a dataset can be connected: draft a mapping, review it, ratify it, revoke it. The same
// functions as on the command line, for callers of the admin API. They may name only the variables that the
// configuration allows; otherwise anybody with an admin key could have any database read whose address is in a variable
// of this process. One separate thread reads the databases, one request after the other.
//
// Members may be called on any worker's thread.
class DatasetWorkshop {
 public:
  static constexpr std::size_t kMostWaiting = 16;

  // All references must outlive this object.
  struct Dependencies {
    DatasetRegistry& registry;
    store::Store& store;
    const Clock& clock;
    Environment environment;
  };
  explicit DatasetWorkshop(Dependencies dependencies);
  // Cancels running work and waits for it.
  ~DatasetWorkshop();
  DatasetWorkshop(const DatasetWorkshop&) = delete;
  DatasetWorkshop& operator=(const DatasetWorkshop&) = delete;

  // Sets the variables with addresses of databases that may be named.
  void set_variables(std::vector<std::string> variables);
  std::vector<std::string> variables() const { return *variables_.get(); }

  Task<Result<datasets::Proposal>> propose(datasets::ProposalRequest request, std::string who);
  Task<Result<datasets::Reviewed>> review(std::string text);
  // Fails with a list of faults if a problem refuses the mapping. Returns problems that are only warnings.
  struct Ratified {
    std::string name;
    datasets::Ratification ratification;
    datasets::Problems problems;
  };
  Task<Result<Ratified>> ratify(std::string text, std::string who);
  Task<Result<datasets::Ratification>> revoke(std::string name, std::string who);
  // Returns the text of a dataset's file.
  Task<Result<std::string>> mapping(std::string name);

 private:
  // Counts the callers that wait for the thread.
  class Place;

  template <class Work>
  Task<std::invoke_result_t<Work&>> run(Work work);
  // Writes the audit entry, before the action itself.
  Task<Result<>> note(std::string who, std::string what, std::string_view name, std::string_view sha256);

  const Dependencies dependencies_;
  Published<std::vector<std::string>> variables_;
  const std::shared_ptr<std::atomic<bool>> given_up_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::size_t> waiting_ = 0;
  BackgroundThreads thread_{1};
};

}  // namespace proteus::gateway
