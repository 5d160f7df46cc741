#pragma once

#include <cstdint>
#include <vector>

#include <proteus/error.hpp>

#include "base/process_key.hpp"
#include "base/task.hpp"
#include "net/http_server/exchange.hpp"

namespace proteus::server {

// Where a request comes from: a client, or another process that has passed on a client's. The latter has checked where
// it came from and how often, and is not passed on again.
enum class Via : std::uint8_t { client, peer };

// The processes that serve as one with this: a port, for what only one of them can answer. Thread-safe.
class OtherProcesses {
 public:
  virtual ~OtherProcesses() = default;

  enum class Relayed : std::uint8_t {
    answered,
    gone,      // there is no such process any more
    not_there  // it lives, and has nothing of that, or another one is where it was
  };
  // The status by which a process says that to another one.
  static constexpr unsigned kNotThere = 421;
  // Has a process answer a request whose body is here, and passes on what it says as it comes. Unless it says that it
  // was answered, nothing was. Fails where it cannot be reached, or cannot be told whether it lives; nothing was
  // answered then, either. The exchange outlives the task.
  virtual Task<Result<Relayed>> relay(net::Exchange& exchange, ProcessKey to) = 0;

  // Fails where that cannot be known now. One that does not answer may live.
  virtual Task<Result<bool>> lives(ProcessKey process) = 0;
  // Whether others may take this process for dead, or did a moment ago: they may take what it has. Asked for each
  // request.
  virtual bool doubt_us() const = 0;
  // Those of them that can be asked, as far as is known here.
  virtual std::vector<ProcessKey> living() const = 0;
};

}  // namespace proteus::server
