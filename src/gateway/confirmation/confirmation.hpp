#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "base/secrets/process_key.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Asks the user before a call runs, and runs a confirmed call only once.
//
// A legacy client is asked while its call waits, and its answer belongs to that call. A modern client gets the question
// as its result, and sends the answer with its retry, perhaps more than once. The first retry with an answer decides;
// the others get its result, or an error that says why not. If the upstream then asks something itself, the client
// returns with a state that is good for one more run of the same call. A question of another process is never run here,
// because nobody knows whether that process ran the call; its state names that process, so that the retry can be
// forwarded. A decision is remembered at least until its question is closed, by the monotonic clock, so that setting
// the wall clock back cannot run a call twice.
//
// Thread-safe. Calls that need no confirmation do not use this object.
class Confirmations {
 public:
  // Returns the answer to a call whose arguments are too long to be shown for confirmation.
  static mcp::Outcome too_long();

  struct Limits {
    std::size_t decided = 10'000;  // decisions remembered at once; beyond that nothing is run
    std::size_t of_one = 1000;     // decisions of one principal
    // As long as a client's state is valid (server/core/request_state.hpp), and a little more.
    std::chrono::seconds remembered = std::chrono::minutes(11);
    std::size_t result_bytes = std::size_t{64} * 1024;      // of one result that is kept
    std::size_t all_result_bytes = std::size_t{32} << 20U;  // of all results that are kept
  };

  // `process` is the key of this process in a cluster; empty outside of a cluster.
  explicit Confirmations(const Clock& clock, const ProcessKey& process = {})
      : Confirmations(clock, Limits(), process) {}
  Confirmations(const Clock& clock, Limits limits, const ProcessKey& process = {});

  // Returns the process that asked the question of this state; empty for any other state, and outside of a cluster.
  static ProcessKey holder_of(std::string_view state);

  struct Question {
    std::string_view tool;
    std::string_view arguments;  // JSON members as they will be sent, without braces
    // A digest of everything that is going to run, if that is more than the request says; has no colon. An approval is
    // valid for this digest only.
    std::string digest = {};
  };
  using Run = std::function<Task<mcp::Outcome>()>;
  // Asks, and calls `run` if the user confirms, or at once if the call goes on in a later round. `run` finds the rounds
  // of the upstream in the call: none, or those of the state in `state_to_go_on`. Everything that is passed must
  // outlive the task.
  Task<mcp::Outcome> ask_first(server::Call& call, Question question, const Run& run);
  // For a confirmed call of a modern client that needs another round: returns the state with which it goes on, once.
  // `rounds` is its state for the upstream.
  std::string state_to_go_on(std::string_view digest, std::string_view rounds);

  std::size_t remembered();

 private:
  using Number = std::uint64_t;
  struct Decision {
    std::string principal;
    bool ended = false;
    std::optional<std::string> result;  // members of the reply; nothing if too large
  };
  enum class Claim : std::uint8_t { first, running, ended, full, too_late };

  Task<mcp::Outcome> ask_within(server::Call& call, mcp::InputRequest question, const Run& run);
  Task<mcp::Outcome> ask_by_result(server::Call& call, mcp::InputRequest question, std::string digest, const Run& run);
  // The contents of a state.
  struct Asked {
    Number number = 0;
    std::string_view digest;
    std::optional<std::string> rounds = {};  // of a call that goes on
  };
  std::string new_state(std::string_view digest);
  void close_old(Clock::Monotonic now);
  std::optional<Asked> read_state(std::string_view state) const;
  // Returns how far the call of a question is; `first` if nothing was decided. `find` requires the mutex.
  Claim find(Number number, std::optional<std::string>& result);
  Claim look(Number number, std::optional<std::string>& result);
  // Decides a question, if nothing was decided.
  Claim claim(Number number, const std::string& principal, std::optional<std::string>& result);
  void settle(Number number, std::string members);
  void forget_old();

  const Clock& clock_;
  const Limits limits_;
  const std::string process_;  // unique to this object

  std::mutex mutex_;
  Number last_ = 0;
  // Marks: from time to time, the time and the number of a question. They tell which numbers are too old.
  std::deque<std::pair<Clock::Monotonic, Number>> asked_;
  Number first_open_ = 1;
  std::size_t kept_bytes_ = 0;
  std::unordered_map<Number, Decision> decided_;
  std::unordered_map<std::string, std::size_t> by_principal_;  // number of decisions of each principal; never zero
  std::deque<std::pair<Clock::Monotonic, Number>> by_time_;
};

}  // namespace proteus::gateway
