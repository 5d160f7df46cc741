#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "cluster/peers/peer_pass.hpp"
#include "cluster/peers/roster.hpp"
#include "net/http_client/http_client.hpp"
#include "net/http_server/exchange.hpp"
#include "net/io/workers.hpp"

namespace proteus::cluster {

// Passes requests on to other processes, over HTTP in TLS by a key that follows from the pepper (ADR 38), by links that
// they share (ADR 42). What is passed on are the caller's own bytes, with its credentials, so that the other process
// knows by itself who asks.
//
// Functions are called on the workers' threads. Made before they run, and gone after they have ended.
class PeerLinks {
 public:
  // What follows from the pepper for these links.
  struct Keys {
    explicit Keys(std::string_view pepper);

    SealingKey passes;
    std::string tls;
  };

  // Everything given outlives it. `self` is the name of this process.
  PeerLinks(net::Workers& workers, const Clock& clock, Keys keys, std::string self);
  ~PeerLinks();
  PeerLinks(const PeerLinks&) = delete;
  PeerLinks& operator=(const PeerLinks&) = delete;

  // How this process is listened for.
  const net::TlsContext& server_tls() const { return server_tls_; }

  enum class Passed : std::uint8_t {
    answered,    // also where the client has left meanwhile
    misdirected  // another process is there, or what was asked for is not; nothing was answered
  };
  // Has a process answer a request whose body is here, and passes its answer on as it comes: no more of it is kept than
  // the client takes. A client that leaves is gone for the other process, too. Fails where nothing was answered: by
  // `unreachable` where the request was not sent, for certain, and otherwise by `interrupted`.
  Task<Result<Passed>> pass_on(net::Exchange& exchange, PeerPointer peer);

  // From any thread: those that live. What waits for another is told that it is gone.
  void set_living(std::set<std::string> names);

  // Fails where a request was not passed on by one of us to this process, and now.
  Result<> check(const net::Request& request);
  // Answers one for which it failed.
  static Task<> refuse(net::Exchange& exchange, Error why);

 private:
  struct Part;
  struct Waiting;
  struct Way;
  struct Known;
  Part& here();
  // By which this request goes to a process.
  Result<std::shared_ptr<const Way>> way_to(Part& part, const Peer& peer, const net::Request& request) const;

  net::Workers& workers_;
  const Clock& clock_;
  const PeerPasses passes_;
  const net::TlsContext server_tls_;
  std::vector<std::unique_ptr<Part>> parts_;  // one for each worker
};

}  // namespace proteus::cluster
