#include "mcp/jsonrpc.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/meta.hpp"

namespace proteus::mcp {

std::string Payload::str() const {
  std::string out;
  for_each([&](std::string_view piece) { out += piece; });
  return out;
}

namespace {

void finish_call(std::string& out, std::string_view method, std::string_view params) {
  out += R"("method":)";
  json::append_quoted(out, method);
  if (!params.empty()) {
    out += R"(,"params":)";
    out += params;
  }
  out += '}';
}

}  // namespace

std::string write_request(std::string_view id, std::string_view method, std::string_view params) {
  std::string out = fmt::format(R"({{"jsonrpc":"2.0","id":{},)", id);
  finish_call(out, method, params);
  return out;
}

std::string write_notification(std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0",)";
  finish_call(out, method, params);
  return out;
}

std::string write_error(std::string_view id, const Error& error, Era era) {
  std::string out = R"({"jsonrpc":"2.0",)";
  if (!id.empty()) fmt::format_to(std::back_inserter(out), R"("id":{},)", id);
  fmt::format_to(std::back_inserter(out), R"("error":{{"code":{},"message":)", rpc_code(error, era));
  json::append_quoted(out, error.message());
  if (!error.data().empty()) fmt::format_to(std::back_inserter(out), R"(,"data":{})", error.data());
  out += "}}";
  return out;
}

std::string result_tail(std::string_view server_info) {
  if (server_info.empty()) return "}}";
  return fmt::format(R"(,"_meta":{{"{}":{}}}}}}})", meta::kServerInfo, server_info);
}

ResultFrame frame_result(std::string_view id, const MethodInfo& method, const Reply& reply, const ResultStyle& style) {
  ResultFrame frame;
  const auto add = [&](std::string_view text) { frame.head_text.append(text); };
  add(R"({"jsonrpc":"2.0","id":)");
  add(id);
  add(R"(,"result":{)");
  const bool modern = style.era == Era::modern;
  bool empty = true;
  if (modern) {
    add(reply.is_task ? R"("resultType":"task")" : R"("resultType":"complete")");
    empty = false;
    if (method.cacheable) {
      fmt::format_to(fmt::appender(frame.head_text), R"(,"ttlMs":{},"cacheScope":"{}")",
                     std::max(reply.caching.ttl, std::chrono::milliseconds::zero()).count(),
                     reply.caching.scope == CacheScope::shared ? "public" : "private");
    }
  }
  if (!reply.members.empty()) {
    if (!empty) add(",");
    empty = false;
  }
  if (modern && !style.tail.empty() && reply.meta.empty() && !reply.members.empty()) {
    frame.prepared_tail = style.tail;
    return frame;
  }
  const bool identify = modern && !style.server_info.empty();
  if (identify || !reply.meta.empty()) {
    frame.own_tail += empty ? R"("_meta":{)" : R"(,"_meta":{)";
    frame.own_tail += reply.meta;
    if (identify) {
      if (!reply.meta.empty()) frame.own_tail += ',';
      frame.own_tail += '"';
      frame.own_tail += meta::kServerInfo;
      frame.own_tail += "\":";
      frame.own_tail += style.server_info;
    }
    frame.own_tail += '}';
  }
  frame.own_tail += "}}";
  return frame;
}

std::string write_result(std::string_view id, const MethodInfo& method, const Reply& reply, const ResultStyle& style) {
  const ResultFrame frame = frame_result(id, method, reply, style);
  std::string out(frame.head());
  reply.members.for_each([&](std::string_view piece) { out += piece; });
  out += frame.tail();
  return out;
}

std::string write_input_required(std::string_view id, const InputRequired& required, std::string_view request_state,
                                 const ResultStyle& style) {
  std::string out = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required")", id);
  if (!required.requests.empty()) {
    out += R"(,"inputRequests":{)";
    bool first = true;
    for (const auto& request : required.requests) {
      if (!std::exchange(first, false)) out += ',';
      json::append_quoted(out, request.key);
      fmt::format_to(std::back_inserter(out), R"(:{{"method":"{}")", to_string(request.method));
      if (!request.params.empty()) fmt::format_to(std::back_inserter(out), R"(,"params":{})", request.params);
      out += '}';
    }
    out += '}';
  }
  if (!request_state.empty()) {
    out += R"(,"requestState":)";
    json::append_quoted(out, request_state);
  }
  if (!style.server_info.empty()) {
    fmt::format_to(std::back_inserter(out), R"(,"_meta":{{"{}":{}}})", meta::kServerInfo, style.server_info);
  }
  out += "}}";
  return out;
}

Error read_error(std::string_view raw) {
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(raw, storage);
  if (!members) return proteus::errors::protocol("the peer's error is not an object");
  const auto code = json::as_int64(members->value("code"));
  auto message = json::decode_string(members->value("message"));
  const bool fits = code && *code >= INT32_MIN && *code <= INT32_MAX;
  return errors::remote(fits ? static_cast<int>(*code) : code::kInternalError,
                        message ? std::move(*message) : "(the peer gave no message)",
                        std::string(members->value("data")));
}

}  // namespace proteus::mcp
