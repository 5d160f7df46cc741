// Fuzzes the codecs of both eras with a message, a line of three dashes, and headers (`name: value`, one per line).
// Each codec accepts or rejects any input, and everything written in answer is itself a valid message.
#include <cstdint>
#include <map>
#include <string>

#include "check.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/capabilities.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "mcp/notifications.hpp"
#include "mcp/request.hpp"

namespace {

using proteus::Error;
using proteus::Result;
using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;
namespace json = proteus::json;
namespace mcp = proteus::mcp;

using Headers = std::map<std::string_view, std::string_view>;

Headers headers_of(std::string_view lines) {
  Headers headers;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos) headers.emplace(line.substr(0, colon), line.substr(colon + 2));
  }
  return headers;
}

void check_written(std::string_view text, json::MessageKind kind, std::string_view id) {
  const auto message = json::scan(text);
  check(message && message->kind == kind, "what is written is a message");
  check(message->id == id, "what is written has the id it is for");
  const auto opinion = boost_opinion(text);
  check(opinion.unsure || opinion.value, "what is written is JSON");
}

void check_error(std::string_view id, const Error& error) {
  for (const auto era : {mcp::Era::legacy, mcp::Era::modern}) {
    const std::string text = mcp::write_error(id, error, era);
    check_written(text, json::MessageKind::error, id);
    const unsigned status = mcp::http_status(error, era);
    check(status == 200 || status == 400 || status == 404 || status == 413, "an error has a status");
    const Error read = mcp::read_error(json::scan(text)->error);
    check(read.rpc_code() == mcp::rpc_code(error, era), "an error's code reads back");
  }
}

void check_request(const mcp::Request& request) {
  const std::string_view id = request.id();
  // A result may be anything that a peer sends; here, the members of the params.
  mcp::Reply reply;
  std::string_view params = request.message->params;
  if (!params.empty()) {
    params.remove_prefix(1);
    params.remove_suffix(1);
  }
  if (!request.message->body.empty()) reply.members.add(std::string(params));
  const bool stamps = request.message->body.has("resultType") || request.message->body.has("ttlMs") ||
                      request.message->body.has("cacheScope");
  for (const auto era : {mcp::Era::legacy, mcp::Era::modern}) {
    // The caller of `write_result` must not pass the members that the modern era adds.
    if (era == mcp::Era::modern && (stamps || request.message->body.has("_meta"))) continue;
    check_written(mcp::write_result(id, *request.method, reply, {era, R"({"name":"x","version":"1"})", {}}),
                  json::MessageKind::result, id);
  }
  check_written(mcp::write_input_required(id, {{{std::string(request.name), mcp::Method::list_roots, ""}}, ""},
                                          request.name, {mcp::Era::modern, request.client_info, {}}),
                json::MessageKind::result, id);
  check_written(mcp::write_request(id, request.message->method, request.message->params), json::MessageKind::request,
                id);
  check_written(mcp::cancelled_notification(id, request.name, id), json::MessageKind::notification, {});
  check_written(mcp::resource_updated_notification(request.name, id), json::MessageKind::notification, {});
  if (!request.progress_token.empty()) {
    check_written(mcp::progress_notification(request.progress_token, {0.5, 1.0, std::string(request.name)}),
                  json::MessageKind::notification, {});
  }
  const auto capabilities = mcp::parse_client_capabilities(request.client_capabilities);
  if (capabilities) {
    const std::string written = mcp::write_client_capabilities(*capabilities);
    check(mcp::write_client_capabilities(*mcp::parse_client_capabilities(written)) == written,
          "capabilities read back as they were written");
  }
  const std::string offered =
      mcp::write_server_capabilities(mcp::parse_server_capabilities(request.client_capabilities));
  check(mcp::write_server_capabilities(mcp::parse_server_capabilities(offered)) == offered,
        "offers read back as they were written");
  const auto filter = mcp::parse_subscription_filter(request.param("notifications"));
  if (filter) {
    check_written(mcp::acknowledged_notification(*filter, id), json::MessageKind::notification, {});
    const auto again = mcp::parse_subscription_filter(mcp::write_subscription_filter(*filter));
    check(again && again->uris == filter->uris, "a filter reads back as it was written");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = proteus::fuzz::as_text(data, size);
  const auto separator = input.find("\n---\n");
  const std::string_view text = input.substr(0, separator);
  const Headers headers =
      headers_of(separator == std::string_view::npos ? std::string_view{} : input.substr(separator + 5));
  const mcp::HeaderLookup lookup = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional(found->second);
  };

  auto message = json::scan(text);
  if (!message) {
    check_error({}, message.error());
    return 0;
  }
  mcp::modern::claims(*message, lookup(mcp::header::kProtocolVersion));
  if (!message->error.empty()) check_error(message->id, mcp::read_error(message->error));
  if (message->kind != json::MessageKind::request) return 0;

  const auto without = mcp::modern::decode(*message, {}, {});
  const auto with = mcp::modern::decode(*message, lookup, {});
  check(!with || without, "headers make a request no better");
  for (const auto* const request : {&without, &with}) {
    if (*request) {
      check_request(**request);
    } else {
      check_error(message->id, request->error());
    }
  }
  if (with) {
    check(headers.contains(mcp::header::kProtocolVersion) && headers.contains(mcp::header::kMethod),
          "a request over HTTP has its headers");
    check(headers.at(mcp::header::kMethod) == message->method, "the method is the one the header says");
  }
  const auto legacy = mcp::legacy::decode(*message, {mcp::kNewestLegacy, "{}", "{}", std::nullopt});
  if (legacy) {
    check_request(*legacy);
  } else {
    check_error(message->id, legacy.error());
  }
  return 0;
}
