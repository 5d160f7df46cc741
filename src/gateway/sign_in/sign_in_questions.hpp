#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/grants/grant.hpp"
#include "gateway/grants/sign_ins.hpp"
#include "gateway/sign_in/awaited.hpp"
#include "gateway/sign_in/ticket.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Asks whoever calls an upstream that they have not connected to do so, in the way of their era (UPC-05).
//
// A legacy client with URL elicitation is asked while its call waits; where the sign-in takes longer than the call can,
// it gets the error that names the URL, and hears when that is done. A modern client gets the question as the result,
// and its next try waits likewise. Any other gets the link as text: forms are not a place for links. Accepting says
// that the page was opened, and nothing more. Thread-safe.
class SignInQuestions final : public SignIns {
 public:
  // Most clients give a request a minute.
  static constexpr std::chrono::seconds kWait{40};

  // Everything outlives it. `gateway_url` is how clients know us.
  struct Dependencies {
    Tickets& tickets;
    AwaitedSignIns& awaited;
    std::function<std::string()> gateway_url;
    std::function<GrantState(const GrantOwner&, const GrantTarget&)> state;
  };
  explicit SignInQuestions(Dependencies dependencies, std::chrono::milliseconds wait = kWait)
      : dependencies_(std::move(dependencies)), wait_(wait) {}

  Task<std::optional<mcp::Outcome>> ask(server::Call& call, SignInNeeded needed) override;
  bool must_connect(const server::Caller& caller, const providers::Upstream& upstream) const override;
  bool has_asked(const server::Call& call) const override;
  Task<std::optional<mcp::Outcome>> come_back(server::Call& call) override;

 private:
  struct Question {
    std::string ticket;  // its id
    std::string text;    // of the ticket
    std::string url;
    std::string message;
  };

  Result<Question> question_for(server::Call& call, const SignInNeeded& needed);
  std::string url_of(std::string_view ticket) const;
  mcp::InputRequired by_result(const Question& question, std::string state) const;
  Task<std::optional<mcp::Outcome>> ask_within(server::Call& call, Question question);
  // The error that names the URL; its client hears when that is done.
  mcp::Outcome by_error(server::Call& call, const Question& question);

  const Dependencies dependencies_;
  const std::chrono::milliseconds wait_;
};

}  // namespace proteus::gateway
