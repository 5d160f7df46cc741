#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/tasks/task.hpp"
#include "cluster/peers/peer_pass.hpp"
#include "cluster/peers/roster.hpp"
#include "net/http_client/http_client.hpp"
#include "net/http_server/exchange.hpp"
#include "net/io/workers.hpp"

namespace proteus::cluster {

// Forwards requests to other processes, over HTTP in TLS with a key derived from the pepper (ADR 38), on links that the
// requests share (ADR 42). The caller's own bytes are forwarded, with its credentials, so that the other process
// authenticates the caller itself.
//
// Functions are called on the workers' threads. Must be made before the workers run, and destroyed after they have
// ended.
class PeerLinks {
 public:
  // The keys of these links, derived from the pepper.
  struct Keys {
    explicit Keys(std::string_view pepper);

    SealingKey passes;
    std::string tls;
  };

  // All references must outlive this object. `self` is the name of this process.
  PeerLinks(net::Workers& workers, const Clock& clock, Keys keys, std::string self);
  ~PeerLinks();
  PeerLinks(const PeerLinks&) = delete;
  PeerLinks& operator=(const PeerLinks&) = delete;

  // Returns the TLS context for this process's listener.
  const net::TlsContext& server_tls() const { return server_tls_; }

  enum class Passed : std::uint8_t {
    answered,    // also if the client has left meanwhile
    misdirected  // it is another process, or lacks what was requested; nothing was answered
  };
  // Forwards a request whose body has been read, and passes the answer on as it arrives: no more of it is buffered than
  // the client takes. If the client leaves, the forwarded request is aborted. Fails if nothing was answered: with
  // `unreachable` if the request was certainly not sent, otherwise with `interrupted`.
  Task<Result<Passed>> pass_on(net::Exchange& exchange, PeerPointer peer);

  // Thread-safe. Sets the names of the live processes. Requests that wait for a process fail if it is missing twice in
  // a row.
  void set_living(std::set<std::string> names);

  // Fails unless one of our processes has just forwarded this request to this process.
  Result<> check(const net::Request& request);
  // Answers a request for which `check` failed.
  static Task<> refuse(net::Exchange& exchange, Error why);

 private:
  struct Part;
  struct Waiting;
  struct Way;
  struct Known;
  Part& here();
  // Returns what is needed to send this request to a process, new or reused.
  Result<std::shared_ptr<const Way>> way_to(Part& part, const Peer& peer, const net::Request& request) const;

  net::Workers& workers_;
  const Clock& clock_;
  const PeerPasses passes_;
  const net::TlsContext server_tls_;
  std::vector<std::unique_ptr<Part>> parts_;  // one for each worker
};

}  // namespace proteus::cluster
