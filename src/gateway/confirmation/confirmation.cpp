#include "gateway/confirmation/confirmation.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/secrets/sealing.hpp"
#include "gateway/confirmation/confirmation_text.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"
#include "providers/http_tool/http_tool_call.hpp"

namespace proteus::gateway {
namespace {

using providers::tool_error;
using providers::tool_text;

constexpr std::string_view kKey = "confirmation";
constexpr std::string_view kAskedBy = "asked-by-";
constexpr std::string_view kCancelled = "Command execution cancelled by user.";
constexpr std::chrono::seconds kMarkedEach{30};

mcp::InputRequest question_of(std::string_view message) {
  return {std::string(kKey), mcp::Method::elicit,
          fmt::format(R"({{"message":{},"requestedSchema":{{"type":"object","properties":{{"confirmed":)"
                      R"({{"type":"boolean","title":"Run it","description":"Whether the call may run"}}}},)"
                      R"("required":["confirmed"]}}}})",
                      json::quote(message))};
}

bool is_confirmed(std::string_view answer) {
  const auto parsed = json::parse(answer);
  if (!parsed || !parsed->is_object()) return false;
  const auto* action = parsed->get_object().if_contains("action");
  const auto* content = parsed->get_object().if_contains("content");
  if (action == nullptr || !action->is_string() || action->get_string() != "accept") return false;
  const auto* confirmed =
      content != nullptr && content->is_object() ? content->get_object().if_contains("confirmed") : nullptr;
  return confirmed != nullptr && confirmed->is_bool() && confirmed->get_bool();
}

mcp::Reply reply_of(std::string members) {
  mcp::Reply reply;
  reply.members.add(std::move(members));
  return reply;
}

std::string hex_of(std::string_view bytes) { return json::hex(json::sha256(bytes)).substr(0, 16); }

}  // namespace

Confirmations::Confirmations(const Clock& clock, Limits limits, const ProcessKey& process)
    : clock_(clock),
      limits_(limits),
      process_((process.value().empty() ? std::string() : fmt::format("{}{}.", kAskedBy, to_text(process))) +
               hex_of(random_bytes(16))) {}

ProcessKey Confirmations::holder_of(std::string_view state) {
  if (!state.starts_with(kAskedBy)) return {};
  state.remove_prefix(kAskedBy.size());
  return state.find('.') == kProcessKeyText ? read_process_key(state) : ProcessKey();
}

mcp::Outcome Confirmations::too_long() {
  return tool_error(
      fmt::format("This tool runs only after the user has confirmed it, and its arguments are too long to be shown to "
                  "the user as a whole: at most {} bytes. Nothing was run; call it with shorter arguments.",
                  kLongestQuestion));
}

Task<mcp::Outcome> Confirmations::ask_first(server::Call& call, Question question, const Run& run) {
  const auto message = confirmation_text(question.tool, question.arguments);
  if (!message) co_return too_long();
  auto asked = question_of(*message);
  co_return co_await (call.session() != nullptr
                          ? ask_within(call, std::move(asked), run)
                          : ask_by_result(call, std::move(asked), std::move(question.digest), run));
}

Task<mcp::Outcome> Confirmations::ask_within(server::Call& call, mcp::InputRequest question, const Run& run) {
  const auto answer = co_await call.ask(std::move(question));
  if (answer) {
    if (!is_confirmed(*answer)) co_return tool_text(kCancelled);
    co_return co_await run();
  }
  switch (answer.error().kind()) {
    case ErrorKind::cancelled: co_return std::unexpected(answer.error());
    case ErrorKind::timeout: co_return tool_text(kCancelled);
    case ErrorKind::unsupported:
      co_return tool_error(
          "This tool runs only after the user has confirmed it, and this client cannot ask the user: it does not offer "
          "elicitation. Nothing was run.");
    default: break;
  }
  co_return tool_error("The client could not ask the user for confirmation. Nothing was run.");
}

Task<mcp::Outcome> Confirmations::ask_by_result(server::Call& call, mcp::InputRequest question, std::string digest,
                                                const Run& run) {
  server::Rounds& rounds = call.rounds();
  mcp::InputRequired required;
  required.requests.push_back(std::move(question));
  // An answer without a question does not count.
  if (rounds.state.empty()) {
    required.state = new_state(digest);
    co_return required;
  }
  auto asked = read_state(rounds.state);
  if (!asked) {
    co_return tool_error(
        "The gateway was restarted after it asked for confirmation, and cannot tell whether the call ran. Check that "
        "before you call the tool again.");
  }
  if (asked->digest != digest) {
    co_return tool_error("The tool was changed while confirmation was awaited. Nothing was run; call it again.");
  }
  const Number number = asked->number;
  const auto answer = rounds.answers.find(kKey);
  const bool decides = asked->rounds || answer != rounds.answers.end();
  std::optional<std::string> result;
  switch (decides ? claim(number, call.caller().principal, result) : look(number, result)) {
    case Claim::first: break;
    case Claim::running:
      co_return tool_error("This confirmed call is already running; its result goes to the request that started it.");
    case Claim::ended:
      if (result) co_return reply_of(std::move(*result));
      co_return tool_error("This confirmed call has already run; its result went to the request that started it.");
    case Claim::too_late:
      co_return tool_error("The confirmation came too late. Nothing was run; call the tool again to be asked again.");
    case Claim::full:
      co_return tool_error("There were too many confirmed calls recently. Nothing was run; try again in some minutes.");
  }
  if (!decides) {
    required.state = rounds.state;
    co_return required;
  }
  const bool confirmed = asked->rounds || is_confirmed(answer->second);
  // However the call ends, even by an exception, it counts as started.
  std::string members = tool_error("The confirmed call was started, but its result is unknown.").members.str();
  const std::shared_ptr<void> settled(nullptr, [&](void*) { settle(number, std::move(members)); });
  if (!confirmed) {
    mcp::Reply reply = tool_text(kCancelled);
    members = reply.members.str();
    co_return reply;
  }
  // The answer to the confirmation is not for the upstream.
  if (!asked->rounds) rounds.answers.clear();
  rounds.state = std::move(asked->rounds).value_or("");
  mcp::Outcome outcome = co_await run();
  if (const auto* reply = outcome ? std::get_if<mcp::Reply>(&*outcome) : nullptr) members = reply->members.str();
  co_return outcome;
}

std::string Confirmations::new_state(std::string_view digest) {
  const std::scoped_lock lock(mutex_);
  const auto now = clock_.now();
  ++last_;
  if (asked_.empty() || asked_.back().first + kMarkedEach < now) asked_.emplace_back(now, last_);
  return fmt::format("{}:{}:{}", process_, last_, digest);
}

std::string Confirmations::state_to_go_on(std::string_view digest, std::string_view rounds) {
  return fmt::format("{}:{}", new_state(digest), rounds);
}

// A question was asked at most `kMarkedEach` after its mark.
void Confirmations::close_old(Clock::Monotonic now) {
  while (!asked_.empty() && asked_.front().first + kMarkedEach + limits_.remembered <= now) {
    asked_.pop_front();
    first_open_ = asked_.empty() ? last_ + 1 : asked_.front().second;
  }
}

std::optional<Confirmations::Asked> Confirmations::read_state(std::string_view state) const {
  if (!state.starts_with(process_) || state.size() <= process_.size() || state[process_.size()] != ':')
    return std::nullopt;
  state.remove_prefix(process_.size() + 1);
  const std::size_t colon = state.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view rest = state.substr(colon + 1);
  const std::size_t end_of_digest = rest.find(':');
  Asked asked{.digest = rest.substr(0, end_of_digest)};
  if (end_of_digest != std::string_view::npos) asked.rounds = rest.substr(end_of_digest + 1);
  const char* const begin = state.data();
  const auto [end, error] = std::from_chars(begin, begin + colon, asked.number);
  if (error != std::errc() || end != begin + colon) return std::nullopt;
  return asked;
}

// A decision about an open question must not be forgotten: the question would be decided again.
void Confirmations::forget_old() {
  const auto now = clock_.now();
  close_old(now);
  while (!by_time_.empty() && by_time_.front().first + limits_.remembered < now &&
         by_time_.front().second < first_open_) {
    const auto found = decided_.find(by_time_.front().second);
    if (found != decided_.end()) {
      if (found->second.result) kept_bytes_ -= found->second.result->size();
      const auto own = by_principal_.find(found->second.principal);
      if (--own->second == 0) by_principal_.erase(own);
      decided_.erase(found);
    }
    by_time_.pop_front();
  }
}

Confirmations::Claim Confirmations::find(Number number, std::optional<std::string>& result) {
  forget_old();
  if (const auto found = decided_.find(number); found != decided_.end()) {
    result = found->second.result;
    return found->second.ended ? Claim::ended : Claim::running;
  }
  return number < first_open_ ? Claim::too_late : Claim::first;
}

Confirmations::Claim Confirmations::look(Number number, std::optional<std::string>& result) {
  const std::scoped_lock lock(mutex_);
  return find(number, result);
}

Confirmations::Claim Confirmations::claim(Number number, const std::string& principal,
                                          std::optional<std::string>& result) {
  const std::scoped_lock lock(mutex_);
  if (const Claim found = find(number, result); found != Claim::first) return found;
  if (decided_.size() >= limits_.decided) return Claim::full;
  const auto own = by_principal_.find(principal);
  if (own != by_principal_.end() && own->second >= limits_.of_one) return Claim::full;
  ++by_principal_[principal];
  decided_.emplace(number, Decision{.principal = principal, .ended = false, .result = {}});
  by_time_.emplace_back(clock_.now(), number);
  return Claim::first;
}

void Confirmations::settle(Number number, std::string members) {
  const std::scoped_lock lock(mutex_);
  const auto found = decided_.find(number);
  if (found == decided_.end()) return;
  found->second.ended = true;
  if (members.size() > limits_.result_bytes || kept_bytes_ + members.size() > limits_.all_result_bytes) return;
  kept_bytes_ += members.size();
  found->second.result = std::move(members);
}

std::size_t Confirmations::remembered() {
  const std::scoped_lock lock(mutex_);
  forget_old();
  return decided_.size();
}

}  // namespace proteus::gateway
