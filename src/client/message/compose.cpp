#include "client/message/compose.hpp"

#include "mcp/headers.hpp"
#include "mcp/meta.hpp"

namespace proteus::client {
namespace {

void add(auto& out, std::string_view text) { out.append(text); }

void add_meta(auto& out, const RequestFrame& frame) {
  std::string_view between;
  const auto next = [&] { add(out, std::exchange(between, ",")); };
  if (frame.era == mcp::Era::modern) {
    next();
    add(out, frame.modern_meta);
    add(out, frame.client_capabilities);
    if (frame.log_level) {
      next();
      fmt::format_to(fmt::appender(out), R"("{}":"{}")", mcp::meta::kLogLevel, mcp::to_string(*frame.log_level));
    }
  }
  if (frame.progress) {
    next();
    add(out, R"("progressToken":)");
    add(out, fmt::format_int(frame.id).c_str());
  }
  if (!frame.more_meta.empty()) {
    next();
    add(out, frame.more_meta);
  }
}

}  // namespace

std::string modern_meta(std::string_view client_info) {
  return fmt::format(R"("{}":"{}","{}":{},"{}":)", mcp::meta::kProtocolVersion, mcp::to_string(mcp::kModern),
                     mcp::meta::kClientInfo, client_info, mcp::meta::kClientCapabilities);
}

Composed::Composed(const RequestFrame& frame, const Params& params) {
  outgoing_.id = frame.id;
  outgoing_.method = frame.method;
  add(head_, R"({"jsonrpc":"2.0","id":)");
  add(head_, fmt::format_int(frame.id).c_str());
  add(head_, R"(,"method":")");
  add(head_, mcp::to_string(frame.method));
  const bool has_meta = frame.era == mcp::Era::modern || frame.progress || !frame.more_meta.empty();
  if (params.members.empty() && frame.more_members.empty() && !has_meta) {
    add(head_, R"("})");
    outgoing_.parts.push_back({head_.data(), head_.size()});
    return;
  }
  add(head_, R"(","params":{)");
  std::string_view between = params.members.empty() ? "" : ",";
  if (!frame.more_members.empty()) {
    add(tail_, std::exchange(between, ","));
    add(tail_, frame.more_members);
  }
  if (has_meta) {
    add(tail_, between);
    add(tail_, R"("_meta":{)");
    add_meta(tail_, frame);
    add(tail_, "}");
  }
  add(tail_, "}}");
  outgoing_.parts.push_back({head_.data(), head_.size()});
  params.members.for_each([this](std::string_view piece) { outgoing_.parts.push_back(piece); });
  outgoing_.parts.push_back({tail_.data(), tail_.size()});
}

void Composed::add_standard_headers(std::string_view name) {
  outgoing_.version = mcp::kModern;
  const auto* info = mcp::find_method(mcp::Era::modern, mcp::Sender::client, outgoing_.method);
  outgoing_.headers.push_back({mcp::header::kMethod, mcp::to_string(outgoing_.method)});
  if (info == nullptr || info->named_by == mcp::NamedBy::nothing) return;
  name_ = mcp::encode_header_value(name);
  outgoing_.headers.push_back({mcp::header::kName, name_});
}

void Composed::add_headers(std::span<const Header> headers) {
  for (const auto& [name, value] : headers)
    outgoing_.headers.push_back({name, value});
}

void Composed::add_headers(std::vector<Header>&& headers) {
  headers_ = std::move(headers);
  add_headers(std::span<const Header>(headers_));
}

}  // namespace proteus::client
