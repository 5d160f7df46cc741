#include "client/message/era.hpp"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::client {
namespace {

// Returns the JSON-RPC error of a reply. Its id may be null, as old servers write it.
std::optional<Error> rpc_error(const Reply& reply) {
  if (!reply.message || !json::is_object(reply.message->message().error)) return std::nullopt;
  return mcp::read_error(reply.message->message().error);
}

bool has_modern_code(const Reply& reply) {
  const auto error = rpc_error(reply);
  return error && mcp::is_modern_code(error->rpc_code());
}

std::vector<std::string> supported_in(const Error& error) {
  std::vector<std::string> versions;
  if (error.data().empty() || error.data().size() > kLongestVersions) return versions;
  const auto data = json::parse(error.data());
  const auto* object = data ? data->if_object() : nullptr;
  const auto* list = object != nullptr ? object->if_contains("supported") : nullptr;
  if (list == nullptr || !list->is_array()) return versions;
  for (const auto& version : list->get_array()) {
    if (version.is_string()) versions.emplace_back(version.get_string());
  }
  return versions;
}

bool names(const std::vector<std::string>& versions, mcp::Era era) {
  return std::ranges::any_of(versions, [era](const std::string& text) {
    const auto version = mcp::parse_version(text);
    return version && mcp::era_of(*version) == era;
  });
}

ProbeVerdict fault(Error error) { return {ProbeVerdict::Kind::fault, {}, std::move(error)}; }

Error no_version_in_common(const std::vector<std::string>& versions) {
  return errors::unsupported(
      fmt::format("no protocol version in common; the server speaks {}", fmt::join(versions, ", ")));
}

ProbeVerdict judge_versions(const std::vector<std::string>& versions, ProbeVerdict modern) {
  if (names(versions, mcp::Era::modern)) return modern;
  if (versions.empty() || names(versions, mcp::Era::legacy)) return {};
  return fault(no_version_in_common(versions));
}

bool says_nothing_about_era(int status) {
  return status == 401 || status == 403 || status == 407 || status == 408 || status == 429 ||
         (status >= 300 && status < 400) || status > 501;
}

bool is_unavailable(int status) { return status == 429 || status >= 500; }

}  // namespace

Error http_error(int status, std::string_view excerpt) {
  std::string text = fmt::format("the server answered with HTTP {}", status);
  if (!excerpt.empty()) fmt::format_to(std::back_inserter(text), ": {}", excerpt);
  if (status == 401) return errors::unauthenticated(std::move(text));
  if (status == 403) return errors::forbidden(std::move(text));
  if (status == 404 || status == 410) return errors::not_found(std::move(text));
  if (status == 408 || status == 504) return {ErrorKind::timeout, std::move(text)};
  if (is_unavailable(status)) return errors::unavailable(std::move(text));
  if (status >= 200 && status < 400) return errors::protocol(std::move(text));
  return {ErrorKind::remote, std::move(text)};
}

Error reply_error(const Reply& reply) {
  // A refusal for lack of credentials must not take its kind from the code of a JSON-RPC error.
  const bool about_access = reply.status == 401 || reply.status == 403;
  if (auto stated = rpc_error(reply); stated && !about_access) {
    if (!is_unavailable(reply.status)) return std::move(*stated);
    return errors::unavailable(stated->message())
        .with_rpc_code(stated->rpc_code())
        .with_data(stated->data())
        .with_retry_after(reply.retry_after);
  }
  if (reply.message && !about_access) {
    return errors::protocol(
        fmt::format("the server answered with what is no answer: {}", reply.message->message().fault));
  }
  // The server's own words, in whichever form they came.
  const auto error = rpc_error(reply);
  return http_error(reply.status, error ? log::printable(error->message(), 200) : reply.excerpt)
      .with_retry_after(reply.retry_after);
}

ProbeVerdict judge_probe(const Reply& reply) {
  if (reply.message && reply.message->message().kind == json::MessageKind::result && reply.status < 300) {
    auto facts = read_discover(*reply.message);
    if (!facts) return {};
    const std::vector<std::string> versions = facts->versions;
    return judge_versions(versions, {ProbeVerdict::Kind::modern, std::move(*facts), Error{ErrorKind::internal, {}}});
  }
  if (says_nothing_about_era(reply.status)) return fault(reply_error(reply));
  const auto error = rpc_error(reply);
  if (!error || !mcp::is_modern_code(error->rpc_code())) return {};
  if (error->rpc_code() != mcp::code::kUnsupportedVersion) return fault(*error);
  ProbeVerdict again;
  again.kind = ProbeVerdict::Kind::again;
  again.error = *error;
  return judge_versions(supported_in(*error), std::move(again));
}

bool suggests_old_transport(const Reply& reply) {
  return (reply.status == 400 || reply.status == 404 || reply.status == 405) && !has_modern_code(reply);
}

bool contradicts(const Reply& reply, mcp::Era era) {
  const auto error = rpc_error(reply);
  if (era == mcp::Era::legacy) {
    if (!error) return false;
    return error->rpc_code() == mcp::code::kHeaderMismatch || error->rpc_code() == mcp::code::kUnsupportedVersion;
  }
  if (error && error->rpc_code() == mcp::code::kUnsupportedVersion) {
    const auto versions = supported_in(*error);
    return !names(versions, mcp::Era::modern);
  }
  // A modern server sends an error of its era, or a standard JSON-RPC error, with each of these.
  if (reply.status != 400 && reply.status != 404 && reply.status != 405) return false;
  if (!error) return true;
  const int code = error->rpc_code();
  // Our requests are valid, except for a server that wants a session first. Either way the request did not run.
  if (code == mcp::code::kInvalidRequest) return reply.status == 400;
  return !mcp::is_modern_code(code) && code != mcp::code::kMethodNotFound && code != mcp::code::kInvalidParams &&
         code != mcp::code::kParseError && code != mcp::code::kInternalError;
}

bool says_session_unknown(const Reply& reply) {
  if (reply.status == 404) return true;
  if (reply.status != 400) return false;
  // A server that does not know the session does not read the request, so it does not know the request's id.
  if (reply.message && json::as_int64(reply.message->message().id)) return false;
  const auto error = rpc_error(reply);
  std::string text = error ? error->message() : reply.excerpt;
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::array<std::string_view, 11> kPhrases = {"session id",      "session-id",         "session_id",
                                                         "sessionid",       "no session",         "no active session",
                                                         "unknown session", "invalid session",    "session not found",
                                                         "session expired", "session has expired"};
  return std::ranges::any_of(kPhrases, [&](std::string_view phrase) { return text.contains(phrase); });
}

}  // namespace proteus::client
