#include "client/compose.hpp"

#include <fmt/format.h>

#include "mcp/headers.hpp"

namespace proteus::client {
namespace {

void add_member(std::string& out, std::string_view key, std::string_view value) {
  if (!out.empty()) out += ',';
  out += '"';
  out += key;
  out += "\":";
  out += value;
}

std::string meta_members(const RequestFrame& frame) {
  std::string out;
  if (frame.era == mcp::Era::modern) {
    out.reserve(256 + frame.client_info.size() + frame.client_capabilities.size() + frame.more_meta.size());
    add_member(out, mcp::meta::kProtocolVersion, fmt::format("\"{}\"", mcp::to_string(mcp::kModern)));
    add_member(out, mcp::meta::kClientInfo, frame.client_info);
    add_member(out, mcp::meta::kClientCapabilities, frame.client_capabilities);
    if (frame.log_level) add_member(out, mcp::meta::kLogLevel, fmt::format("\"{}\"", mcp::to_string(*frame.log_level)));
  }
  if (frame.progress) add_member(out, mcp::meta::kProgressToken, fmt::format("{}", frame.id));
  if (!frame.more_meta.empty()) {
    if (!out.empty()) out += ',';
    out += frame.more_meta;
  }
  return out;
}

}  // namespace

Composed::Composed(const RequestFrame& frame, const Params& params)
    : head_(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}")", frame.id, mcp::to_string(frame.method))) {
  outgoing_.id = frame.id;
  outgoing_.method = frame.method;
  const std::string meta = meta_members(frame);
  if (params.members.empty() && frame.more_members.empty() && meta.empty()) {
    head_ += '}';
    outgoing_.parts.push_back(head_);
    return;
  }
  head_ += R"(,"params":{)";
  bool first = params.members.empty();
  if (!frame.more_members.empty()) {
    if (!first) tail_ += ',';
    tail_ += frame.more_members;
    first = false;
  }
  if (!meta.empty()) {
    tail_ += first ? R"("_meta":{)" : R"(,"_meta":{)";
    tail_ += meta;
    tail_ += '}';
  }
  tail_ += "}}";
  outgoing_.parts.push_back(head_);
  params.members.for_each([this](std::string_view piece) { outgoing_.parts.push_back(piece); });
  outgoing_.parts.push_back(tail_);
}

void Composed::add_standard_headers(std::string_view name) {
  auto& headers = outgoing_.headers;
  headers.emplace_back(mcp::header::kProtocolVersion, mcp::to_string(mcp::kModern));
  headers.emplace_back(mcp::header::kMethod, mcp::to_string(outgoing_.method));
  const auto* info = mcp::find_method(mcp::Era::modern, mcp::Sender::client, mcp::to_string(outgoing_.method));
  if (info != nullptr && info->named_by != mcp::NamedBy::nothing)
    headers.emplace_back(mcp::header::kName, mcp::encode_header_value(name));
}

}  // namespace proteus::client
