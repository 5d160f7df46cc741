#pragma once

#include <functional>

#include "gateway/route.hpp"
#include "gateway/service.hpp"
#include "server/call.hpp"

namespace proteus::gateway {

// One request on its way to an upstream and back. Lives on the caller's thread, for as long as the request runs.
class Forwarding {
 public:
  Forwarding(server::Call& call, Worker& worker, Route route);

  // With the request's own params.
  Task<Result<client::Answer>> run();
  // With others, which outlive it.
  Task<Result<client::Answer>> run(client::Params params);

 private:
  // Where it is sent from: the thread that a connection belongs to.
  struct Lane {
    Executor thread;
    CallerConnection connection;
    bool here = true;
  };

  bool is_plain() const;
  Task<Result<client::Answer>> run_express(client::Express& express, client::Params params);
  Task<Result<client::Answer>> run_long(client::Params params);
  std::vector<client::Header> mirrored() const;
  Lane choose_lane();
  Lane session_lane();
  client::RequestOptions options(const Lane& lane);
  std::shared_ptr<const client::Handlers> handlers();

  server::Call& call_;
  Worker& worker_;
  Route route_;
  std::shared_ptr<const client::ServerFacts> facts_;
};

}  // namespace proteus::gateway
