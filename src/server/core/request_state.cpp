#include "server/core/request_state.hpp"

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "json/canonical.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::server {
namespace {

// The client sends the state back and forth. This much is a burden; more is a mistake.
constexpr std::size_t kMaxState = std::size_t{256} * 1024;

std::int64_t seconds_of(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// Returns what a state is bound to, besides the time.
std::string binding(const mcp::Request& request, const Caller& caller, std::string_view mark) {
  std::string out;
  for (const std::string_view part :
       {std::string_view(caller.principal), std::string_view(caller.context), request.method->name, request.name}) {
    out += fmt::format("{}:{}", part.size(), part);
  }
  return out.append(mark);
}

Error not_ours() {
  return mcp::errors::invalid_params(
      "requestState is not valid for this request: it was changed, belongs to another request or caller, or "
      "has "
      "expired. Send the request again without it.");
}

Result<void> add_responses(std::string_view raw, Rounds& rounds) {
  if (raw.empty()) return {};
  std::vector<std::unique_ptr<std::string>> storage;
  if (!json::is_object(raw)) {
    return std::unexpected(mcp::errors::invalid_params("params.inputResponses must be an object"));
  }
  const auto members = json::members_of(raw, storage);
  if (!members) return std::unexpected(members.error());
  for (const auto& [key, value] : *members) {
    if (!json::is_object(value)) {
      return std::unexpected(
          mcp::errors::invalid_params(fmt::format("params.inputResponses[{}] must be an object", json::quote(key))));
    }
    rounds.answers.insert_or_assign(std::string(key), std::string(value));
  }
  return {};
}

}  // namespace

// Sorting values takes many times as long as reading them. A client that sends more than `kMostByValue` must send the
// same bytes again, or start over.
Result<std::string> mark_of(std::string_view arguments) {
  if (arguments.size() > kMostByValue) return "bytes " + json::hex(json::sha256(arguments));
  const auto digest = json::canonical_hash(arguments.empty() ? "{}" : arguments);
  if (!digest) {
    return std::unexpected(mcp::errors::invalid_params(
        fmt::format("params.arguments cannot be bound to an answer: {}", digest.error().message())));
  }
  return json::hex(*digest);
}

Result<std::string> RequestStates::mint(const mcp::Request& request, const Caller& caller, std::string_view mark,
                                        const Rounds& rounds) const {
  std::string plain = fmt::format(R"({{"e":{},"r":{},"s":{},"a":{{)", seconds_of(clock_.wall()) + lifetime_.count(),
                                  rounds.round, json::quote(rounds.state));
  bool first = true;
  for (const auto& [key, answer] : rounds.answers) {
    if (!std::exchange(first, false)) plain += ',';
    json::append_quoted(plain, key);
    plain += ':';
    plain += answer;
  }
  plain += "}}";
  if (plain.size() > kMaxState) return std::unexpected(errors::too_large("the state of the request", kMaxState));
  return base64_encode(key_.seal(plain, binding(request, caller, mark)), Base64::url);
}

Result<Rounds> RequestStates::open(const mcp::Request& request, const Caller& caller, std::string_view mark) const {
  Rounds rounds;
  const std::string_view raw = request.param("requestState");
  if (!raw.empty()) {
    if (!json::is_string(raw)) return std::unexpected(mcp::errors::invalid_params("requestState must be a string"));
    const auto text = json::decode_string(raw);
    const auto sealed = text ? base64_decode(*text, Base64::url) : std::nullopt;
    const auto plain = sealed ? key_.open(*sealed, binding(request, caller, mark)) : std::nullopt;
    if (!plain) return std::unexpected(not_ours());
    std::vector<std::unique_ptr<std::string>> storage;
    const auto members = json::members_of(*plain, storage);
    if (!members) return std::unexpected(not_ours());
    if (json::as_int64(members->value("e")).value_or(0) < seconds_of(clock_.wall())) return std::unexpected(not_ours());
    rounds.round = static_cast<unsigned>(json::as_int64(members->value("r")).value_or(0));
    rounds.state = json::decode_string(members->value("s")).value_or("");
    if (auto added = add_responses(members->value("a"), rounds); !added) return std::unexpected(added.error());
  }
  if (auto added = add_responses(request.param("inputResponses"), rounds); !added) {
    return std::unexpected(added.error());
  }
  return rounds;
}

}  // namespace proteus::server
