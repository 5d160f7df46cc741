#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "base/clock.hpp"
#include "base/tasks/delivery.hpp"
#include "base/tasks/task.hpp"
#include "base/tasks/task_group.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::auth {

// The one thread that talks to issuers, on behalf of all threads that verify tokens, so that they share requests. All
// members except the executor and the clock belong to that thread.
struct IssuerHome {
  IssuerHome(Executor on, net::HttpClient& client, const Clock& time)
      : executor(std::move(on)), http(client), clock(time), tasks(executor) {}

  const Executor executor;
  net::HttpClient& http;  // its address filter decides where issuers' URLs may lead
  const Clock& clock;
  TaskGroup tasks;
  bool is_closed = false;
};

// The waiters for one result, from any thread. Belongs to the home's thread.
template <class T>
class Waiters {
 public:
  using Waiter = std::shared_ptr<Delivery<T>>;

  void add(Waiter waiter) { waiters_.push_back(std::move(waiter)); }
  void deliver(const T& value) {
    for (const Waiter& waiter : std::exchange(waiters_, {}))
      waiter->deliver(value);
  }

 private:
  std::vector<Waiter> waiters_;
};

}  // namespace proteus::auth
