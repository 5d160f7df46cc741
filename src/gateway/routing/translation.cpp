#include "gateway/routing/translation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "gateway/routing/completion_reference.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/meta.hpp"
#include "server/core/event_text.hpp"

namespace proteus::gateway {
namespace {

// Separates an upstream's state from our own.
constexpr std::string_view kUpstreamState = "upstream:";

bool is_trace_context(std::string_view key) { return key == "traceparent" || key == "tracestate" || key == "baggage"; }

std::size_t depth_of(std::string_view value) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

void add_member(std::string& out, std::string_view key, std::string_view value) {
  if (!out.empty()) out += ',';
  json::append_quoted(out, key);
  out += ':';
  out += value;
}

// Passes on the pieces of a spliced object without its braces.
template <class Add>
void add_inside(json::Splice& splice, Add&& add) {
  const auto& pieces = splice.pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string_view piece = pieces[i];
    if (i == 0) piece.remove_prefix(1);
    if (i + 1 == pieces.size()) piece.remove_suffix(1);
    add(piece);
  }
}

std::string_view named_value(const mcp::Request& request) {
  if (request.method->named_by != mcp::NamedBy::nothing) return request.param(mcp::member_of(request.method->named_by));
  if (request.method->method != mcp::Method::complete) return {};
  const auto reference = CompletionReference::of(request);
  return reference ? reference->name : std::string_view();
}

std::string responses_of(const server::Rounds& rounds) {
  std::string out;
  for (const auto& [key, answer] : rounds.answers)
    add_member(out, key, answer);
  return out;
}

mcp::Caching caching_of(const json::Message& message) {
  mcp::Caching caching;
  if (const auto ttl = json::as_int64(message.body.value("ttlMs"))) caching.ttl = std::chrono::milliseconds(*ttl);
  if (message.body.value("cacheScope") == R"("public")") caching.scope = mcp::CacheScope::shared;
  return caching;
}

std::optional<mcp::Method> question_method(std::string_view raw) {
  const auto name = json::decode_string(raw);
  if (!name) return std::nullopt;
  for (const auto method : {mcp::Method::elicit, mcp::Method::create_message, mcp::Method::list_roots}) {
    if (*name == mcp::to_string(method)) return method;
  }
  return std::nullopt;
}

mcp::Outcome to_input_required(const json::Message& message) {
  const auto broken = [] {
    return std::unexpected(errors::protocol("the upstream asks for input in a way that cannot be understood"));
  };
  mcp::InputRequired required;
  std::vector<std::unique_ptr<std::string>> storage;
  if (const std::string_view raw = message.body.value("inputRequests"); !raw.empty()) {
    const auto requests = json::members_of(raw, storage);
    if (!requests) return broken();
    for (const auto& [key, value] : *requests) {
      const auto question = json::members_of(value, storage);
      const auto method = question ? question_method(question->value("method")) : std::nullopt;
      if (!method) return broken();
      const std::string_view params = question->value("params");
      // The members of the params decide whether the client can be asked.
      if (!params.empty() && !json::members_of(params, storage)) return broken();
      required.requests.push_back({std::string(key), *method, std::string(params)});
    }
  }
  if (const std::string_view raw = message.body.value("requestState"); !raw.empty()) {
    auto state = json::decode_string(raw);
    if (!state) return broken();
    required.state = std::string(kUpstreamState) + *state;
  }
  return required;
}

}  // namespace

Result<void> check_meta(const mcp::Request& request, const MetaLimits& limits) {
  std::size_t keys = 0;
  std::size_t bytes = 0;
  for (const auto& [key, value] : request.message->meta) {
    if (mcp::meta::is_protocol_key(key)) continue;
    ++keys;
    bytes += key.size() + value.size();
    if (depth_of(value) + 1 > limits.depth) {
      return std::unexpected(mcp::errors::invalid_params(fmt::format("_meta is nested deeper than {}", limits.depth)));
    }
  }
  if (keys > limits.keys) {
    return std::unexpected(mcp::errors::invalid_params(fmt::format("_meta has more than {} keys", limits.keys)));
  }
  if (bytes > limits.bytes) {
    return std::unexpected(mcp::errors::invalid_params(fmt::format("_meta has more than {} bytes", limits.bytes)));
  }
  return {};
}

std::string forwarded_meta(const mcp::Request& request, Propagate what) {
  std::string out;
  for (const auto& [key, value] : request.message->meta) {
    if (mcp::meta::is_protocol_key(key)) continue;
    const bool wanted = what == Propagate::all || (what == Propagate::trace_context) == is_trace_context(key);
    if (wanted) add_member(out, key, value);
  }
  return out;
}

ForwardedParams::ForwardedParams(const mcp::Request& request, std::string_view own, const server::Rounds& rounds,
                                 mcp::Era era, std::string_view arguments)
    : splice_(request.message->params) {
  const json::Message& message = *request.message;
  params_.name = own;
  std::string added;
  if (era == mcp::Era::modern) {
    const std::string responses = responses_of(rounds);
    if (!responses.empty()) added = fmt::format(R"("inputResponses":{{{}}})", responses);
    if (rounds.state.starts_with(kUpstreamState)) {
      add_member(added, "requestState", json::quote(std::string_view(rounds.state).substr(kUpstreamState.size())));
    }
  }
  if (!message.params.empty()) {
    if (const std::string_view named = named_value(request); !named.empty()) rename(named, own);
    if (!arguments.empty()) {
      if (const std::string_view given = request.param("arguments"); !given.empty()) {
        splice_.replace(given, arguments);
      } else {
        add_member(added, "arguments", arguments);
      }
    }
    // For a client without tasks, `task` is an ordinary member; a legacy upstream must not read it as a task.
    const bool no_task = era == mcp::Era::legacy && !mcp::has_tasks(request.version);
    // The answers in an update of a task are for the upstream.
    const bool rounds_only = !mcp::is_about_tasks(request.method->method);
    json::edit_members(splice_, message.params, message.body, [=](const json::Member& member) {
      return member.key == "_meta" || (no_task && member.key == "task") ||
             (rounds_only && (member.key == "inputResponses" || member.key == "requestState"));
    });
    add_inside(splice_, [this](std::string_view piece) { params_.members.add(piece, nullptr); });
  }
  if (!added.empty()) {
    if (!params_.members.empty()) params_.members.add(",");
    params_.members.add(std::move(added));
  }
}

void ForwardedParams::rename(std::string_view named, std::string_view own) {
  // Usually the name only has a prefix in front of the upstream's own name.
  if (const auto plain = json::plain_string(named); plain && plain->ends_with(own)) {
    splice_.remove(plain->substr(0, plain->size() - own.size()));
    return;
  }
  quoted_ = json::quote(own);
  if (quoted_ != named) splice_.replace(named, quoted_);
}

bool is_state_after_sending(std::string_view state) {
  return state.starts_with(kUpstreamState) || state == kVisitedState;
}

mcp::Outcome to_outcome(const client::Answer& answer, mcp::Era client, mcp::CacheScope widest) {
  const json::Message& message = answer.message();
  if (message.body.value("resultType") == R"("input_required")") return to_input_required(message);
  mcp::Reply reply;
  reply.caching = caching_of(message);
  reply.is_tool_error = is_tool_error(answer);
  if (widest == mcp::CacheScope::per_caller) reply.caching.scope = widest;
  for (const auto& [key, value] : message.meta) {
    if (key != mcp::meta::kServerInfo) add_member(reply.meta, key, value);
  }
  json::Splice splice(message.result);
  const bool legacy = client == mcp::Era::legacy;
  json::edit_members(splice, message.result, message.body, [legacy](const json::Member& member) {
    return member.key == "_meta" || member.key == "resultType" || member.key == "ttlMs" || member.key == "cacheScope" ||
           (legacy && member.key == "structuredContent" && !member.value.starts_with('{'));
  });
  add_inside(splice, [&](std::string_view piece) {
    if (piece.find_first_not_of(" \t\r\n") != std::string_view::npos) reply.members.add(piece, answer.bytes());
  });
  if (answer.on_one_line()) reply.members.set_on_one_line();
  return reply;
}

bool is_tool_error(const client::Answer& answer) { return answer.member("isError") == "true"; }

std::string forwarded_notification(const json::Message& message, const mcp::Request& request) {
  if (message.method == mcp::to_string(mcp::Method::progress)) {
    if (request.progress_token.empty()) return {};
    const std::string_view token = message.body.value("progressToken");
    if (token.empty()) return {};
    const auto at = static_cast<std::size_t>(token.data() - message.text.data());
    const std::string_view before = message.text.substr(0, at);
    const std::string_view behind = message.text.substr(at + token.size());
    std::string text;
    text.reserve(before.size() + request.progress_token.size() + behind.size() + server::kEventRoom);
    return std::move(text.append(before).append(request.progress_token).append(behind));
  }
  if (message.method == mcp::to_string(mcp::Method::log_message)) {
    const auto level = mcp::parse_log_level(json::plain_string(message.body.value("level")).value_or(""));
    if (!request.log_level || !level || *level < *request.log_level) return {};
    return std::string(message.text);
  }
  // Notifications that no specification defines may mean something to client and upstream.
  if (mcp::find_method(mcp::Era::legacy, mcp::Sender::server, message.method) == nullptr &&
      mcp::find_method(mcp::Era::modern, mcp::Sender::server, message.method) == nullptr) {
    return std::string(message.text);
  }
  const bool of_a_legacy_session = message.method == mcp::to_string(mcp::Method::elicitation_complete) &&
                                   request.version == mcp::Version::v2025_11_25;
  return of_a_legacy_session ? std::string(message.text) : std::string();
}

}  // namespace proteus::gateway
