#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.hpp"
#include "gateway/core/gateway.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// A proposal, and whose it is.
struct UpstreamProposal {
  std::string upstream;
  std::string display_name;  // of the upstream, for people; empty for none
  providers::PostedProposal posted;
};

// What waits at pinned upstreams for a person's decision, and the decisions. Functions may be called on any worker's
// thread.
class PinDecisions {
 public:
  // Both outlive it.
  PinDecisions(Gateway& gateway, store::Store& store) : gateway_(gateway), store_(store) {}

  // In the order of the upstreams.
  std::vector<UpstreamProposal> proposals() const;
  // Nothing where it does not wait any more.
  std::optional<UpstreamProposal> find(std::string_view id) const;
  // Where to compare them.
  BackgroundThreads& background() const { return gateway_.background_threads(); }

  // Keeps the decision, with its audit in the same write, and has the upstream read again where that changes what is
  // served. `by` is the person, `who` the key that was used. Fails of kind `not_found` where there is no such proposal
  // any more: what was decided about is exactly what was proposed. Holds also where the upstream is made anew
  // meanwhile.
  Task<Result<UpstreamProposal>> decide(std::string id, store::Verdict verdict, std::string by, std::string who);

 private:
  struct Decision {
    std::string id;
    std::shared_ptr<const providers::UpstreamPins> board;  // that it was found on
    store::PinRecord record;
    std::string who;
  };
  // Gives the upstream that it holds for.
  Task<Result<ServedUpstream>> keep(Decision decision);

  Gateway& gateway_;
  store::Store& store_;
};

}  // namespace proteus::gateway
