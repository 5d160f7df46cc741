#include "client/transport/http_caller.hpp"

#include <algorithm>
#include <array>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/tasks/waiting.hpp"
#include "client/message/retry_after.hpp"
#include "mcp/headers.hpp"

namespace proteus::client {
namespace {

constexpr std::array kPosted = {net::Field{"Content-Type", "application/json"},
                                net::Field{"Accept", "application/json, text/event-stream"}};
constexpr std::size_t kMaxRefusalBytes = 64UL * 1024;
constexpr std::size_t kMaxChallengeBytes = 16UL * 1024;
constexpr std::chrono::milliseconds kGoodbyeTimeout{2000};

// Returns the beginning of a body as part of a sentence.
std::string excerpt_of(std::string body) {
  std::ranges::replace_if(body, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  const auto begin = std::min(body.find_first_not_of(' '), body.size());
  return log::printable(std::string_view(body).substr(begin, body.find_last_not_of(' ') + 1 - begin), 200);
}

void add_fields(auto& fields, std::span<const Header> headers) {
  for (const auto& [name, value] : headers)
    fields.push_back({name, value});
}

bool is_refused(const net::ClientResponse& response) { return response.status() == 401 || response.status() == 403; }

// Joins all fields, because a server may send one for each scheme that it accepts.
std::string challenge_of(const net::ClientResponse& response) {
  std::string all;
  for (const auto& field : response.fields()) {
    if (!net::same_field_name(field.name, "WWW-Authenticate")) continue;
    if (!all.empty()) all += ", ";
    all += field.value;
    if (all.size() > kMaxChallengeBytes) return {};
  }
  return all;
}

std::string_view nonce_of(const net::ClientResponse& response) {
  return response.fields().find("DPoP-Nonce").value_or("");
}

}  // namespace

bool report_accepted(Authorizer& authorizer, const net::ClientResponse& response) {
  if (is_refused(response)) return false;
  authorizer.accepted(nonce_of(response));
  return true;
}

Task<Result<net::ClientResponse>> HttpCaller::send(std::string_view method, const net::Url& url,
                                                   const std::vector<Header>& headers,
                                                   std::chrono::milliseconds head_timeout) {
  return send(method, url, headers, nullptr, 0, head_timeout);
}

Task<Result<>> HttpCaller::say_goodbye(const std::vector<Header>& headers) {
  Deadline deadline(co_await boost::asio::this_coro::executor, kGoodbyeTimeout, {});
  co_return co_await before(deadline, send_goodbye(headers), "ending the session");
}

Task<Result<>> HttpCaller::send_goodbye(const std::vector<Header>& headers) {
  const auto response = co_await send("DELETE", url_, headers, nullptr, Authorizer::kMaxAgain, {});
  if (!response) co_return std::unexpected(response.error());
  co_return Result<>{};
}

Task<Result<net::ClientResponse>> HttpCaller::post(const net::Url& url, const Outgoing& message,
                                                   const std::vector<Header>& headers) {
  return send("POST", url, headers, &message, message.refused_before, {});
}

Task<Result<net::ClientResponse>> HttpCaller::send(std::string_view method, const net::Url& url,
                                                   std::span<const Header> headers, const Outgoing* message,
                                                   int refused_before, std::chrono::milliseconds head_timeout) {
  const bool at_home = url.origin() == url_.origin();
  Authorizer* const authorizer = at_home ? authorizer_of(message) : nullptr;
  for (int refused = refused_before;; ++refused) {
    std::vector<Header> credentials;
    boost::container::small_vector<net::Field, 12> fields;
    std::span<const std::string_view> body;
    if (message != nullptr) {
      fields.assign(kPosted.begin(), kPosted.end());
      if (message->version) fields.push_back({mcp::header::kProtocolVersion, mcp::to_string(*message->version)});
      fields.insert(fields.end(), message->headers.begin(), message->headers.end());
      body = {message->parts.data(), message->parts.size()};
    }
    add_fields(fields, headers);
    if (at_home) add_fields(fields, options_.headers);
    if (authorizer != nullptr) {
      auto given = co_await authorizer->headers(method, url);
      if (!given) co_return std::unexpected(std::move(given.error()));
      credentials = std::move(*given);
      add_fields(fields, credentials);
    }
    auto response =
        co_await http_.send({.url = url,
                             .method = method,
                             .fields = {fields.data(), fields.size()},
                             .body = body,
                             .deadlines = {.connect = options_.connect_timeout, .head = head_timeout, .whole = {}}});
    if (authorizer == nullptr || !response) co_return response;
    if (report_accepted(*authorizer, *response)) co_return response;
    if (refused >= Authorizer::kMaxAgain) co_return response;
    const std::string challenge = challenge_of(*response);
    const std::string nonce(nonce_of(*response));
    const auto better = co_await authorizer->refused({.status = static_cast<int>(response->status()),
                                                      .challenge = challenge,
                                                      .dpop_nonce = nonce,
                                                      .sent = credentials});
    if (!better) co_return std::unexpected(better.error());
    if (!*better) co_return response;
    co_await drain(*response);
  }
}

std::string HttpCaller::prepare_post(std::span<const Header> headers) const {
  boost::container::small_vector<net::Field, 12> fields(kPosted.begin(), kPosted.end());
  add_fields(fields, headers);
  add_fields(fields, options_.headers);
  return http_.prepare({fields.data(), fields.size()}).value_or("");
}

std::optional<net::ClientResponse> HttpCaller::try_post(const Outgoing& message, std::string_view prepared,
                                                        std::chrono::milliseconds time, ReadyHeaders::Pointer& sent) {
  if (prepared.empty()) return std::nullopt;
  if (Authorizer* const authorizer = authorizer_of(&message)) {
    sent = authorizer->headers_now("POST", url_);
    if (!sent || sent->lines().empty()) return std::nullopt;
  }
  return http_.try_send({.url = url_,
                         .method = "POST",
                         .fields = {message.headers.data(), message.headers.size()},
                         .prepared = prepared,
                         .more_prepared = sent ? std::string_view(sent->lines()) : std::string_view(),
                         .body = {message.parts.data(), message.parts.size()},
                         .deadlines = {.connect = options_.connect_timeout, .head = time, .whole = time}});
}

Task<Result<Reply>> read_refusal(net::ClientResponse& response) {
  Reply reply;
  reply.status = static_cast<int>(response.status());
  reply.retry_after = read_retry_after(response.fields());
  if (is_refused(response)) {
    reply.challenge = challenge_of(response);
    reply.dpop_nonce = nonce_of(response);
  }
  if (reply.status < 400) {
    const auto location = response.fields().find("Location");
    if (location) reply.excerpt = fmt::format("it points to {}", log::printable(*location));
    co_return reply;
  }
  std::string body;
  while (body.size() < kMaxRefusalBytes) {
    const auto bytes = co_await response.read_some();
    // Half a body says more than the error that cut off the other half.
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
    reply.excerpt = excerpt_of(std::move(body));
  }
  co_return reply;
}

Task<> drain(net::ClientResponse& response) {
  // A body of unknown length may be a stream that never ends.
  if (response.content_length().value_or(kMaxRefusalBytes + 1) > kMaxRefusalBytes) co_return;
  static_cast<void>(co_await response.read_all(kMaxRefusalBytes));
}

}  // namespace proteus::client
