#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "base/waiting.hpp"
#include "catalog/definitions/definition_list.hpp"

namespace proteus::gateway {

// One page of a list as an upstream gave it.
struct LivePage {
  std::optional<Error> error = {};             // as callers may see it
  catalog::DefinitionList::Pointer list = {};  // null where there is an error
  std::optional<std::string> next = {};        // the upstream's own cursor
};
using LivePagePointer = std::shared_ptr<const LivePage>;

// Lists of upstreams that are asked for by several at once, and that are the same for all of them: they share a
// request, as long as it is sent after each of them has asked. So nobody is given what was so before they came. Of one
// worker's thread.
class SharedRequests {
 public:
  explicit SharedRequests(const Executor& executor) : executor_(executor) {}

  // `key` names all that the answer may depend on. `fetch` asks the upstream; called at most once, or not at all.
  Task<LivePagePointer> get(std::string key, std::function<Task<LivePagePointer>()> fetch);

 private:
  struct Flight {
    explicit Flight(const Executor& executor) : landed(executor) {}
    Bell landed;
    bool is_over = false;
    LivePagePointer page;  // null where whoever asked gave up
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
