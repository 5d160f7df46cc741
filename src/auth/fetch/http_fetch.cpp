#include "auth/fetch/http_fetch.hpp"

#include <array>

#include <fmt/format.h>

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;

constexpr net::RequestDeadlines kDeadlines{.connect = 5s, .head = 10s, .whole = 15s};

// Returns the target of a redirect, if it may be followed.
Result<net::Url> target_of(const net::ClientResponse& response, const FetchRequest& request, int followed) {
  const auto location = response.fields().find("Location");
  if (request.redirects == Redirects::within_origin && request.method == "GET" && location &&
      followed < HttpFetch::kMaxRedirects) {
    auto target = request.url.resolve(*location);
    if (target && target->origin() == request.url.origin()) return std::move(*target);
  }
  return std::unexpected(
      errors::protocol(fmt::format("{} redirects to another place, which is not followed", request.url.text())));
}

// A server may send a challenge for each scheme in a field of its own.
std::string challenges_of(const net::ClientResponse& response) {
  std::string all;
  for (const auto& field : response.fields()) {
    if (!net::same_field_name(field.name, "WWW-Authenticate")) continue;
    if (!all.empty()) all += ", ";
    all += field.value;
  }
  return all;
}

}  // namespace

Task<Result<FetchAnswer>> HttpFetch::fetch(FetchRequest request) {
  std::vector<net::Field> fields = {{"Accept", "application/json"}, {"Accept-Encoding", "identity"}};
  for (const auto& [name, value] : request.fields)
    fields.push_back({name, value.reveal()});
  const std::array<std::string_view, 1> body = {request.body.reveal()};
  for (int followed = 0;; ++followed) {
    auto response = co_await http_.send(
        {.url = request.url,
         .method = request.method,
         .fields = fields,
         .body = request.body.empty() ? std::span<const std::string_view>() : std::span<const std::string_view>(body),
         .deadlines = kDeadlines});
    if (!response) co_return std::unexpected(std::move(response.error()).within(request.url.text()));
    if (response->status() >= 300 && response->status() < 400) {
      auto target = target_of(*response, request, followed);
      if (!target) co_return std::unexpected(std::move(target.error()));
      request.url = std::move(*target);
      continue;
    }
    const auto read = co_await response->read_all(request.limit);
    if (!read) co_return std::unexpected(Error(read.error()).within(request.url.text()));
    co_return FetchAnswer{.status = response->status(),
                          .body = std::string(*read),
                          .challenge = challenges_of(*response),
                          .dpop_nonce = std::string(response->fields().find("DPoP-Nonce").value_or(""))};
  }
}

}  // namespace proteus::auth
