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
#include "base/process_key.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Asks the user before something runs, and has it run once.
//
// A legacy client is asked while its call waits, and what it answers belongs to that call. A modern client gets the
// question as the result, and sends the answer with its next try, perhaps more than once: the first try that brings an
// answer decides, any other gets the first one's result, or is told why not. What was asked by another process is not
// run, because nobody knows whether that process ran it; the state says which it is, so that a try can be taken there.
// A question is open for as long as its decision is remembered, by the monotonic clock, so that setting the wall clock
// back cannot run anything twice.
//
// Thread-safe. Nothing in here is touched by calls that need no confirmation.
class Confirmations {
 public:
  // The answer to a call whose arguments nobody could read before confirming them.
  static mcp::Outcome too_long();

  struct Limits {
    std::size_t decided = 10'000;  // that are remembered at once; beyond it nothing more is run
    std::size_t of_one = 1000;     // of them, by the calls of one principal
    // For as long as a client's state is good for (server/request_state.hpp), and a little more.
    std::chrono::seconds remembered = std::chrono::minutes(11);
    std::size_t result_bytes = std::size_t{64} * 1024;      // of one result that is kept
    std::size_t all_result_bytes = std::size_t{32} << 20U;  // of all of them
  };

  // `process` is this one among several that serve as one; empty where it is alone.
  explicit Confirmations(const Clock& clock, const ProcessKey& process = {})
      : Confirmations(clock, Limits(), process) {}
  Confirmations(const Clock& clock, Limits limits, const ProcessKey& process = {});

  // The process that asked the question of this state; empty where it is another state, or that is not known.
  static ProcessKey holder_of(std::string_view state);

  struct Question {
    std::string_view tool;
    std::string_view arguments;  // JSON text, as it will be sent; without braces
    // Of all that is going to run, where that is more than the request tells: an approval is good for nothing else.
    std::string digest = {};
  };
  using Run = std::function<Task<mcp::Outcome>()>;
  // Everything outlives the task.
  Task<mcp::Outcome> ask_first(server::Call& call, Question question, const Run& run);

  std::size_t remembered();

 private:
  using Number = std::uint64_t;
  struct Decision {
    std::string principal;
    bool ended = false;
    std::optional<std::string> result;  // the members of the reply; nothing where it was too large
  };
  enum class Claim : std::uint8_t { first, running, ended, full, too_late };

  Task<mcp::Outcome> ask_within(server::Call& call, mcp::InputRequest question, const Run& run);
  Task<mcp::Outcome> ask_by_result(server::Call& call, mcp::InputRequest question, std::string digest, const Run& run);
  // What a state says was asked.
  struct Asked {
    Number number = 0;
    std::string_view digest;
  };
  std::string new_state(std::string_view digest);
  bool is_too_late(Number number, Clock::Monotonic now);
  std::optional<Asked> read_state(std::string_view state) const;
  Claim claim(Number number, const std::string& principal, std::optional<std::string>& result);
  void settle(Number number, std::string members);
  void forget_old();

  const Clock& clock_;
  const Limits limits_;
  const std::string process_;  // another one for each

  std::mutex mutex_;
  Number last_ = 0;
  // When questions began to have such numbers, now and then: the older ones are closed by it.
  std::deque<std::pair<Clock::Monotonic, Number>> asked_;
  Number first_open_ = 1;
  std::size_t kept_bytes_ = 0;
  std::unordered_map<Number, Decision> decided_;
  std::unordered_map<std::string, std::size_t> by_principal_;  // how many of them; none is zero
  std::deque<std::pair<Clock::Monotonic, Number>> by_time_;
};

}  // namespace proteus::gateway
