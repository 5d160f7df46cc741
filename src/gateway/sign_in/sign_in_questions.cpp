#include "gateway/sign_in/sign_in_questions.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/grants/grant.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/notifications.hpp"
#include "server/core/asking.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {
namespace {

// "connect:NUMBER:TICKET-ID:TICKET". The number identifies the call, so that the call goes on only once. In a cluster
// it begins with the key of the process that asked, and a dot.
constexpr std::string_view kState = "connect:";
constexpr std::string_view kKey = "connect";
constexpr std::size_t kNumberBytes = 12;
constexpr std::size_t kLongestName = 100;

enum class Action : std::uint8_t { accept, decline, cancel };

Action action_of(std::string_view answer) {
  const auto parsed = json::parse(answer);
  const auto* action = parsed && parsed->is_object() ? parsed->get_object().if_contains("action") : nullptr;
  if (action == nullptr || !action->is_string()) return Action::cancel;
  if (action->get_string() == "accept") return Action::accept;
  return action->get_string() == "decline" ? Action::decline : Action::cancel;
}

struct Asked {
  std::string number;
  std::string ticket;  // its id
  std::string text;
};

std::optional<Asked> read_state(std::string_view state) {
  if (!state.starts_with(kState)) return std::nullopt;
  state.remove_prefix(kState.size());
  const std::size_t first = state.find(':');
  const std::size_t second = first == std::string_view::npos ? first : state.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return Asked{std::string(state.substr(0, first)), std::string(state.substr(first + 1, second - first - 1)),
               std::string(state.substr(second + 1))};
}

std::string program_of(const server::Call& call) {
  const auto name = json::decode_string(json::find_member(call.request().client_info, "name"));
  return name ? log::printable(*name, kLongestName) : std::string("an unnamed program");
}

std::string end_text(SignInEnd how) {
  return how == SignInEnd::declined ? "The user decided on the page not to connect. Nothing was run."
                                    : "The sign-in did not succeed. Nothing was run; call again to be asked again.";
}

std::string answer_text(Action action) {
  return action == Action::decline ? "The user declined to sign in. Nothing was run."
                                   : "The user dismissed the sign-in. Nothing was run; call again to be asked again.";
}

std::string claim_text(AwaitedSignIns::Claim claim) {
  return claim == AwaitedSignIns::Claim::full
             ? "Too many calls have gone on after a sign-in. Nothing was run; call again in some minutes."
             : "This call has already gone on after the sign-in; its result went to the request that came first.";
}

constexpr std::string_view kAskedElsewhere =
    "Another process of the gateway asked for this sign-in and does not answer, so nobody can tell whether the call "
    "ran. Check that before you call again.";

std::string params_of(std::string_view message, std::string_view url, std::string_view elicitation) {
  std::string id = elicitation.empty() ? "" : fmt::format(R"("elicitationId":{},)", json::quote(elicitation));
  return fmt::format(R"({{"mode":"url",{}"url":{},"message":{}}})", id, json::quote(url), json::quote(message));
}

void forget_question(server::Call& call) {
  call.rounds().state.clear();
  call.rounds().answers.clear();
}

}  // namespace

std::string SignInQuestions::url_of(std::string_view ticket) const {
  return fmt::format("{}/connect/{}", dependencies_.gateway_url(), ticket);
}

Result<SignInQuestions::Question> SignInQuestions::question_for(server::Call& call, const SignInNeeded& needed) {
  const Principal& principal = principal_of(call.caller());
  const auto& settings = needed.upstream->settings();
  const auto owner = owner_of(principal);
  if (!owner) {
    return std::unexpected(errors::unauthenticated(
        fmt::format("{} is used by each user as themselves, and this caller has no name. Call with a token of yours.",
                    settings.label())));
  }
  const bool by_identity = settings.authentication.oauth.grant == providers::OAuthGrant::identity_assertion;
  if (by_identity && issuer_of(principal).empty()) {
    return std::unexpected(errors::forbidden(
        fmt::format("{} is used by people of the identity provider; this caller has a token of the gateway itself.",
                    settings.label())));
  }
  const auto grant = dependencies_.grant(*owner, wanted_target(settings, issuer_of(principal)));
  auto issued = dependencies_.tickets.issue({.person = {Person::Kind::user, owner->value(), issuer_of(principal)},
                                             .person_name = principal.name(),
                                             .upstream = settings.name,
                                             .scopes = needed.scopes,
                                             .challenge = needed.challenge,
                                             .client = program_of(call),
                                             .connected_at = grant ? grant->connected_at : Clock::Wall()});
  if (!issued) return std::unexpected(issued.error());
  return Question{
      issued->ticket, issued->text, url_of(issued->text),
      needed.scopes.empty()
          ? fmt::format("Sign in to {} to use it.", settings.label())
          : fmt::format("{} needs more permissions for this. Sign in again to grant them.", settings.label())};
}

std::string SignInQuestions::new_state(const Question& question) const {
  const std::string process = dependencies_.process.value().empty() ? "" : to_text(dependencies_.process) + ".";
  return fmt::format("{}{}{}:{}:{}", kState, process, base64_encode(random_bytes(kNumberBytes), Base64::url),
                     question.ticket.id, question.text);
}

mcp::InputRequired SignInQuestions::by_result(const Question& question, std::string state) const {
  mcp::InputRequired required;
  required.requests.push_back({std::string(kKey), mcp::Method::elicit, params_of(question.message, question.url, {})});
  required.state = std::move(state);
  return required;
}

mcp::Outcome SignInQuestions::by_error(server::Call& call, const Question& question) {
  dependencies_.awaited.tell_later(question.ticket, call.session()->outside());
  return std::unexpected(mcp::errors::remote(
      mcp::code::kLegacyUrlElicitationRequired, question.message,
      fmt::format(R"({{"elicitations":[{}]}})", params_of(question.message, question.url, question.ticket.id))));
}

Task<std::optional<mcp::Outcome>> SignInQuestions::ask(server::Call& call, SignInNeeded needed) {
  auto question = question_for(call, needed);
  if (!question) co_return server::refusal(call, question.error().message());
  const bool takes_urls = call.client().elicitation_url;
  const bool may_ask = call.request().method->may_ask;
  if (!takes_urls || (!may_ask && call.session() == nullptr)) {
    co_return server::refusal(
        call, fmt::format("{} Open this link in a browser, then call again: {}", question->message, question->url));
  }
  if (call.session() != nullptr) {
    if (!may_ask) co_return by_error(call, *question);
    co_return co_await ask_within(call, std::move(*question));
  }
  co_return by_result(*question, new_state(*question));
}

Task<std::optional<mcp::Outcome>> SignInQuestions::ask_within(server::Call& call, Question question) {
  const auto answer =
      co_await call.ask({{}, mcp::Method::elicit, params_of(question.message, question.url, question.ticket.id)});
  if (!answer) {
    if (answer.error().kind() == ErrorKind::cancelled) co_return std::unexpected(answer.error());
    co_return by_error(call, question);
  }
  if (const Action action = action_of(*answer); action != Action::accept)
    co_return server::refusal(call, answer_text(action));
  const auto end = co_await dependencies_.awaited.wait(question.ticket, call.cancellation(), wait_);
  if (call.cancellation().requested()) co_return std::unexpected(errors::cancelled("the request"));
  if (!end) co_return by_error(call, question);
  call.send(mcp::elicitation_complete_notification(question.ticket.id));
  if (*end != SignInEnd::connected) co_return server::refusal(call, end_text(*end));
  co_return std::nullopt;
}

bool SignInQuestions::must_connect(const server::Caller& caller, const providers::Upstream& upstream) const {
  const auto& authentication = upstream.settings().authentication;
  // The identity assertion chain begins with a sign-in at the identity provider. All other automatic grants need no
  // user.
  const bool by_identity = authentication.oauth.grant == providers::OAuthGrant::identity_assertion;
  if (!authentication.is_per_caller() || (authentication.oauth.is_automatic() && !by_identity)) return false;
  const Principal& principal = principal_of(caller);
  const auto owner = owner_of(principal);
  if (!owner) return true;
  const auto grant = dependencies_.grant(*owner, wanted_target(upstream.settings(), issuer_of(principal)));
  return !grant || grant->state != GrantState::connected;
}

bool SignInQuestions::has_asked(const server::Call& call) const { return call.rounds().state.starts_with(kState); }

ProcessKey SignInQuestions::holder_of(std::string_view state) const {
  if (!state.starts_with(kState)) return {};
  state.remove_prefix(kState.size());
  return state.find('.') == kProcessKeyText ? read_process_key(state) : ProcessKey();
}

Task<std::optional<mcp::Outcome>> SignInQuestions::come_back(server::Call& call) {
  const auto asked = read_state(call.rounds().state);
  if (!asked) co_return std::unexpected(mcp::errors::invalid_params("the request state cannot be read"));
  const auto answer = call.rounds().answers.find(kKey);
  // If the link has expired, nobody waits for it any more.
  const auto ticket = dependencies_.tickets.unseal(asked->text);
  const Question again{ticket.value_or(Ticket{}), asked->text, url_of(asked->text), "Sign in to go on."};
  if (answer == call.rounds().answers.end()) co_return by_result(again, call.rounds().state);
  if (const Action action = action_of(answer->second); action != Action::accept) {
    co_return server::refusal(call, answer_text(action));
  }
  if (holder_of(call.rounds().state) != dependencies_.process)
    co_return server::refusal(call, std::string(kAskedElsewhere));
  auto end = dependencies_.awaited.find(asked->ticket);
  if (!end && ticket) {
    end = co_await dependencies_.awaited.wait(*ticket, call.cancellation(), wait_);
    if (call.cancellation().requested()) co_return std::unexpected(errors::cancelled("the request"));
    // A used link that has not expired: its person may still be at the authorization server.
    if (!end) {
      std::string state = call.rounds().state;
      call.rounds().answers.clear();
      co_return by_result(again, std::move(state));
    }
  }
  if (end && *end != SignInEnd::connected) co_return server::refusal(call, end_text(*end));
  const auto claim = dependencies_.awaited.claim(asked->number, call.caller().principal);
  if (claim != AwaitedSignIns::Claim::first) co_return server::refusal(call, claim_text(claim));
  // If the link has expired, the outcome may be unknown here, and the call itself finds out whether it may run.
  forget_question(call);
  co_return std::nullopt;
}

}  // namespace proteus::gateway
