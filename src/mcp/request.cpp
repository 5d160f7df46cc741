#include "mcp/request.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::mcp {
namespace {

// Checks `params` as both eras require, and reads the name, URI or task id and the progress token.
Result<void> read_params(Request& request, json::Message& message) {
  if (request.method->named_by != NamedBy::nothing) {
    const std::string_view key = member_of(request.method->named_by);
    const std::string_view raw = message.body.value(key);
    if (!json::is_string(raw)) {
      return std::unexpected(errors::invalid_params(fmt::format("params.{} must be a string", key)));
    }
    request.name = json::decoded(raw, message.decoded);
  }
  const std::string_view arguments = message.body.value("arguments");
  if (!arguments.empty() && !json::is_object(arguments)) {
    return std::unexpected(errors::invalid_params("params.arguments must be an object"));
  }
  if (request.method->paged) {
    const std::string_view cursor = message.body.value("cursor");
    if (!cursor.empty() && !json::is_string(cursor)) {
      return std::unexpected(errors::invalid_params("params.cursor must be a string"));
    }
  }
  const std::string_view meta = message.body.value("_meta");
  if (!meta.empty() && !json::is_object(meta)) {
    return std::unexpected(errors::invalid_params("params._meta must be an object"));
  }
  request.progress_token = message.meta.value(meta::kProgressToken);
  if (!request.progress_token.empty() && !json::is_string(request.progress_token) &&
      !json::is_integer(request.progress_token)) {
    return std::unexpected(errors::invalid_params("progressToken must be a string or an integer"));
  }
  return {};
}

}  // namespace
}  // namespace proteus::mcp

namespace proteus::mcp::modern {
namespace {

Result<void> check_headers(const json::Message& message, std::string_view version, const HeaderLookup& lookup) {
  const auto version_header = lookup(header::kProtocolVersion);
  if (!version_header) {
    return std::unexpected(errors::header_mismatch(fmt::format("{} is missing", header::kProtocolVersion)));
  }
  if (*version_header != version) {
    return std::unexpected(errors::header_mismatch(
        fmt::format("{} header value '{}' does not match body value '{}'", header::kProtocolVersion,
                    log::printable(*version_header), log::printable(version))));
  }
  const auto method = lookup(header::kMethod);
  if (!method) return std::unexpected(errors::header_mismatch(fmt::format("{} is missing", header::kMethod)));
  if (*method != message.method) {
    return std::unexpected(
        errors::header_mismatch(fmt::format("{} header value '{}' does not match body value '{}'", header::kMethod,
                                            log::printable(*method), log::printable(message.method))));
  }
  return {};
}

Result<void> check_name(const Request& request, const HeaderLookup& lookup) {
  if (request.method->named_by == NamedBy::nothing) return {};
  return check_name_header(lookup(header::kName), request.name);
}

// Checks the members that a client adds to a retry after a request for input.
Result<void> check_retry(const Request& request) {
  if (!request.method->may_ask) return {};
  const std::string_view responses = request.param("inputResponses");
  if (!responses.empty() && !json::is_object(responses)) {
    return std::unexpected(errors::invalid_params("params.inputResponses must be an object"));
  }
  const std::string_view state = request.param("requestState");
  if (!state.empty() && !json::is_string(state)) {
    return std::unexpected(errors::invalid_params("params.requestState must be a string"));
  }
  return {};
}

}  // namespace

bool claims(const json::Message& message, std::optional<std::string_view> version_header) {
  if (message.meta.has(meta::kProtocolVersion) || message.meta.has(meta::kClientCapabilities)) return true;
  const auto version = version_header ? parse_version(*version_header) : std::nullopt;
  return version && era_of(*version) == Era::modern;
}

Result<Request> decode(json::Message& message, const HeaderLookup& lookup, Eras supported) {
  const std::string_view raw_version = message.meta.value(meta::kProtocolVersion);
  if (!json::is_string(raw_version)) {
    return std::unexpected(
        errors::malformed_meta(fmt::format("params._meta must have a string {}", meta::kProtocolVersion)));
  }
  Request request;
  request.message = &message;
  request.client_capabilities = message.meta.value(meta::kClientCapabilities);
  if (!json::is_object(request.client_capabilities)) {
    return std::unexpected(
        errors::malformed_meta(fmt::format("params._meta must have an object {}", meta::kClientCapabilities)));
  }
  request.client_info = message.meta.value(meta::kClientInfo);
  if (!request.client_info.empty() && !json::is_object(request.client_info)) {
    return std::unexpected(errors::malformed_meta(fmt::format("{} must be an object", meta::kClientInfo)));
  }

  const std::string_view version = json::decoded(raw_version, message.decoded);
  if (lookup) {
    if (auto checked = check_headers(message, version, lookup); !checked) return std::unexpected(checked.error());
  }
  if (!supported.modern || version != to_string(kModern)) {
    return std::unexpected(errors::unsupported_version(version, supported));
  }

  request.method = find_method(Era::modern, Sender::client, message.method);
  if (request.method == nullptr || request.method->form != Form::request) {
    return std::unexpected(errors::method_not_found(message.method));
  }
  if (auto read = read_params(request, message); !read) return std::unexpected(read.error());
  if (lookup) {
    if (auto checked = check_name(request, lookup); !checked) return std::unexpected(checked.error());
  }
  if (auto checked = check_retry(request); !checked) return std::unexpected(checked.error());

  const std::string_view level = message.meta.value(meta::kLogLevel);
  if (!level.empty()) {
    request.log_level = json::is_string(level) ? parse_log_level(json::decoded(level, message.decoded)) : std::nullopt;
    if (!request.log_level)
      return std::unexpected(errors::invalid_params(fmt::format("{} is not a level", meta::kLogLevel)));
  }
  return request;
}

}  // namespace proteus::mcp::modern

namespace proteus::mcp::legacy {

Result<Request> decode(json::Message& message, const SessionFacts& session) {
  Request request;
  request.version = session.version;
  request.message = &message;
  request.client_capabilities = session.client_capabilities;
  request.client_info = session.client_info;
  request.log_level = session.log_level;
  request.method = find_method(Era::legacy, Sender::client, message.method);
  const bool known = request.method != nullptr && request.method->form == Form::request;
  if (!known || (is_about_tasks(request.method->method) && !has_tasks(session.version))) {
    return std::unexpected(errors::method_not_found(message.method));
  }
  if (auto read = read_params(request, message); !read) return std::unexpected(read.error());
  return request;
}

}  // namespace proteus::mcp::legacy
