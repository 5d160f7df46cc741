#pragma once

#include <cstdint>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/process_key.hpp"
#include "base/tasks/task.hpp"
#include "net/http_server/exchange.hpp"

namespace proteus::server {

// Where a request comes from: a client, or another process that forwards a client's request. The other process has
// checked Host, Origin and rate limits, and the request is not forwarded again.
enum class Via : std::uint8_t { client, peer };

// Port to the other processes of the cluster, for requests that only one of them can answer. Thread-safe.
class OtherProcesses {
 public:
  virtual ~OtherProcesses() = default;

  enum class Relayed : std::uint8_t {
    answered,
    gone,      // there is no such process any more
    not_there  // the process lives and does not have what is needed, or another process has its address
  };
  // The HTTP status by which a process reports `not_there`.
  static constexpr unsigned kNotThere = 421;
  // Lets a process answer a request whose body has arrived, and passes the answer on as it arrives. Unless the result
  // is `answered`, the client has received nothing. Fails if the process cannot be reached, if nobody knows whether it
  // lives, or if the connection to it breaks before the answer; then the request may have been carried out. The
  // exchange must outlive the task.
  virtual Task<Result<Relayed>> relay(net::Exchange& exchange, ProcessKey to) = 0;

  // Whether a process lives. A process that does not answer may still live. Fails if that cannot be known now.
  virtual Task<Result<bool>> lives(ProcessKey process) = 0;
  // Whether other processes may count this process as dead, or did so a moment ago, and so may take its sessions over.
  // Called for each request.
  virtual bool doubt_us() const = 0;
  // Returns the other processes that can be asked, as far as this process knows.
  virtual std::vector<ProcessKey> living() const = 0;
};

}  // namespace proteus::server
