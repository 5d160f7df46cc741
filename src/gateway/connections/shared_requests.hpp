#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "base/tasks/waiting.hpp"
#include "catalog/definitions/definition_list.hpp"

namespace proteus::gateway {

// One page of an upstream's list.
struct LivePage {
  std::optional<Error> error = {};             // as callers may see it
  catalog::DefinitionList::Pointer list = {};  // null after an error
  std::optional<std::string> next = {};        // the upstream's own cursor
};
using LivePagePointer = std::shared_ptr<const LivePage>;

// Merges concurrent requests for the same list of an upstream. A caller only shares a request that is sent after the
// caller has asked, so that no answer is older than its question. Belongs to one worker's thread.
class SharedRequests {
 public:
  explicit SharedRequests(const Executor& executor) : executor_(executor) {}

  // `key` must contain everything that the answer may depend on. Calls `fetch` at most once, to ask the upstream.
  Task<LivePagePointer> get(std::string key, std::function<Task<LivePagePointer>()> fetch);

 private:
  struct Flight {
    explicit Flight(const Executor& executor) : landed(executor) {}
    Bell landed;
    bool is_over = false;
    LivePagePointer page;  // null if the fetching coroutine was cancelled
  };
  struct Route {
    std::shared_ptr<Flight> under_way;
    std::shared_ptr<Flight> next;
  };
  class Pilot;

  const Executor executor_;
  std::unordered_map<std::string, Route> routes_;
};

}  // namespace proteus::gateway
