#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/secrets/process_key.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/grants/sign_ins.hpp"
#include "gateway/sign_in/awaited.hpp"
#include "gateway/sign_in/ticket.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Asks the caller of an upstream that they have not connected to sign in there, as their era allows (UPC-05).
//
// A legacy client with URL elicitation is asked while its call waits. If the sign-in takes longer than `wait`, the call
// fails with the error that names the URL, and the client is notified when the sign-in has ended. A modern client gets
// the question as its result, and its retry waits in the same way. Any other client gets the link as text, because
// forms must not contain links. An answer of `accept` means only that the user opened the page.
//
// In a cluster, only the process that asked a modern client goes on with the call, because no other knows whether it
// has gone on already; the state names that process, so that the retry can be forwarded. Thread-safe.
class SignInQuestions final : public SignIns {
 public:
  // Most clients allow a request one minute.
  static constexpr std::chrono::seconds kWait{40};

  // All references must outlive this object. `gateway_url` returns the URL by which clients know us.
  struct Dependencies {
    Tickets& tickets;
    AwaitedSignIns& awaited;
    std::function<std::string()> gateway_url;
    std::function<GrantPointer(const GrantOwner&, const GrantTarget&)> grant;  // null if there is none
    ProcessKey process = {};  // of this process in a cluster; empty outside of a cluster
  };
  explicit SignInQuestions(Dependencies dependencies, std::chrono::milliseconds wait = kWait)
      : dependencies_(std::move(dependencies)), wait_(wait) {}

  Task<std::optional<mcp::Outcome>> ask(server::Call& call, SignInNeeded needed) override;
  bool must_connect(const server::Caller& caller, const providers::Upstream& upstream) const override;
  bool has_asked(const server::Call& call) const override;
  ProcessKey holder_of(std::string_view state) const override;
  Task<std::optional<mcp::Outcome>> come_back(server::Call& call) override;

 private:
  struct Question {
    Ticket ticket;
    std::string text;  // of the ticket, as in the link
    std::string url;
    std::string message;
  };

  Result<Question> question_for(server::Call& call, const SignInNeeded& needed);
  std::string url_of(std::string_view ticket) const;
  std::string new_state(const Question& question) const;
  mcp::InputRequired by_result(const Question& question, std::string state) const;
  Task<std::optional<mcp::Outcome>> ask_within(server::Call& call, Question question);
  // Returns the error that names the URL, and has the client notified when the sign-in has ended.
  mcp::Outcome by_error(server::Call& call, const Question& question);

  const Dependencies dependencies_;
  const std::chrono::milliseconds wait_;
};

}  // namespace proteus::gateway
