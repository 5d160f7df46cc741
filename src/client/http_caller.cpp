#include "client/http_caller.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace proteus::client {
namespace {

constexpr std::size_t kMaxRefusalBytes = 64UL * 1024;

bool is_refused(const Result<net::ClientResponse>& response) {
  return response && (response->status() == 401 || response->status() == 403);
}

}  // namespace

Task<Result<net::ClientResponse>> HttpCaller::send(std::string_view method, const net::Url& url,
                                                   const std::vector<Header>& headers,
                                                   const std::vector<std::string_view>& body,
                                                   std::chrono::milliseconds head_timeout) {
  auto response = co_await send_once(method, url, headers, body, head_timeout);
  if (!options_.authorizer || !is_refused(response)) co_return response;
  const std::string challenge(response->fields().find("WWW-Authenticate").value_or(""));
  const auto better = co_await options_.authorizer->refused(static_cast<int>(response->status()), challenge);
  if (!better) co_return std::unexpected(better.error());
  if (!*better) co_return response;
  co_await drain(*response);
  co_return co_await send_once(method, url, headers, body, head_timeout);
}

Task<Result<net::ClientResponse>> HttpCaller::send_once(std::string_view method, const net::Url& url,
                                                        const std::vector<Header>& headers,
                                                        const std::vector<std::string_view>& body,
                                                        std::chrono::milliseconds head_timeout) {
  std::vector<Header> credentials;
  std::vector<net::Field> fields;
  const auto add = [&fields](const std::vector<Header>& from) {
    for (const auto& [name, value] : from)
      fields.push_back({name, value});
  };
  add(headers);
  if (url.origin() == url_.origin()) {
    add(options_.headers);
    if (options_.authorizer) {
      auto given = co_await options_.authorizer->headers();
      if (!given) co_return std::unexpected(std::move(given.error()));
      credentials = std::move(*given);
      add(credentials);
    }
  }
  net::ClientRequest request{.url = url, .method = method, .fields = fields, .body = body};
  request.deadlines = {.connect = options_.connect_timeout, .head = head_timeout, .whole = {}};
  co_return co_await http_.send(request);
}

Task<Result<net::ClientResponse>> HttpCaller::post(const net::Url& url, const Outgoing& message,
                                                   const std::vector<Header>& headers) {
  std::vector<Header> all = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
  all.insert(all.end(), headers.begin(), headers.end());
  all.insert(all.end(), message.headers.begin(), message.headers.end());
  co_return co_await send("POST", url, all, message.parts, {});
}

Task<Result<Reply>> read_refusal(net::ClientResponse& response) {
  Reply reply;
  reply.status = static_cast<int>(response.status());
  if (reply.status < 400) {
    const auto location = response.fields().find("Location");
    if (location) reply.excerpt = fmt::format("it points to {}", log::printable(*location));
    co_return reply;
  }
  std::string body;
  while (body.size() < kMaxRefusalBytes) {
    const auto bytes = co_await response.read_some();
    // Half a body says more than the fault of its other half.
    if (!bytes || bytes->empty()) break;
    body += *bytes;
  }
  if (response.has_content_type("application/json")) {
    json::ScanLimits limits;
    limits.bytes = kMaxRefusalBytes;
    if (auto message = Received::scan(body, limits)) reply.message = std::move(*message);
  }
  if (!reply.message || reply.message->message().error.empty()) {
    reply.message.reset();
    reply.excerpt = log::printable(body, 200);
  }
  co_return reply;
}

Task<> drain(net::ClientResponse& response) {
  // A body of unknown length may be a stream that never ends.
  if (response.content_length().value_or(kMaxRefusalBytes + 1) > kMaxRefusalBytes) co_return;
  static_cast<void>(co_await response.read_all(kMaxRefusalBytes));
}

}  // namespace proteus::client
