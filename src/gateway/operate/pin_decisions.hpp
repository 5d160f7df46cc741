#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tasks/task.hpp"
#include "gateway/core/gateway.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// A proposal and its upstream.
struct UpstreamProposal {
  std::string upstream;
  std::string display_name;  // of the upstream, for display; may be empty
  providers::PostedProposal posted;
};

// The proposals of pinned upstreams that wait for a person's decision, and the decisions. Members may be called on any
// worker's thread.
class PinDecisions {
 public:
  // `gateway` and `store` must outlive this object.
  PinDecisions(Gateway& gateway, store::Store& store) : gateway_(gateway), store_(store) {}

  // Returns all proposals, in the order of the upstreams.
  std::vector<UpstreamProposal> proposals() const;
  // Returns nothing if there is no such proposal any more.
  std::optional<UpstreamProposal> find(std::string_view id) const;
  // The threads on which proposals should be compared.
  BackgroundThreads& background() const { return gateway_.background_threads(); }

  // Stores the decision together with its audit entry, and has the upstream's lists read again if that changes what is
  // served. `by` is the person, `who` the key that was used. Fails with `not_found` if the proposal is gone, so a
  // decision always concerns exactly what was proposed. The decision also holds if the upstream is replaced meanwhile.
  Task<Result<UpstreamProposal>> decide(std::string id, store::Verdict verdict, std::string by, std::string who);

 private:
  struct Decision {
    std::string id;
    std::shared_ptr<const providers::UpstreamPins> board;  // where the proposal was found
    store::PinRecord record;
    std::string who;
  };
  // Returns the upstream for which the decision holds.
  Task<Result<ServedUpstream>> keep(Decision decision);

  Gateway& gateway_;
  store::Store& store_;
};

}  // namespace proteus::gateway
