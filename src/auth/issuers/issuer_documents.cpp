#include "auth/issuers/issuer_documents.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/log.hpp"

namespace proteus::auth {
namespace {

using namespace std::chrono_literals;

constexpr net::RequestDeadlines kDeadlines{.connect = 5s, .head = 10s, .whole = 15s};
constexpr std::size_t kMaxIntrospection = std::size_t{256} * 1024;

bool is_redirect(unsigned status) { return status >= 300 && status < 400; }

// application/x-www-form-urlencoded, for a value.
std::string form_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
                          c == '.' || c == '_' || c == '*';
    if (is_plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 0xFU]);
  }
  return out;
}

// RFC 6749, 2.3.1: both parts are encoded before they are joined.
std::string basic(const ClientCredentials& client) {
  return "Basic " + base64_encode(form_encoded(client.client_id) + ":" + form_encoded(client.client_secret.reveal()));
}

// Where an issuer says that it takes credentials in the body and not in a field.
bool wants_body(const ServerMetadata& metadata) {
  const auto& methods = metadata.introspection_endpoint_auth_methods.empty()
                            ? metadata.token_endpoint_auth_methods
                            : metadata.introspection_endpoint_auth_methods;
  return std::ranges::find(methods, "client_secret_post") != methods.end() &&
         std::ranges::find(methods, "client_secret_basic") == methods.end();
}

}  // namespace

IssuerDocuments::IssuerDocuments(std::shared_ptr<IssuerHome> home, const IssuerSettings& settings)
    : home_(std::move(home)),
      issuer_(settings.issuer),
      jwks_url_(settings.jwks_url),
      client_(settings.introspection),
      searched_(home_->executor) {}

Task<Result<ServerMetadata>> IssuerDocuments::metadata() {
  while (is_searching_)
    co_await searched_.wait();
  const auto now = home_->clock.now();
  if (found_ && now < search_again_) co_return *found_;
  is_searching_ = true;
  struct Ending {
    IssuerDocuments& documents;
    ~Ending() {
      documents.is_searching_ = false;
      documents.searched_.ring();
    }
  };
  const Ending ending{*this};
  auto found = co_await search();
  search_again_ = home_->clock.now() + (found ? std::chrono::seconds(kFresh) : kRetryAfter);
  // What was found before is better than nothing.
  if (found || !found_ || !*found_) found_ = std::move(found);
  co_return *found_;
}

Task<Result<ServerMetadata>> IssuerDocuments::search() {
  const auto issuer = net::Url::parse(issuer_);
  if (!issuer) co_return std::unexpected(issuer.error());
  Error last = errors::not_found("nothing was asked");
  for (const net::Url& url : metadata_urls(*issuer)) {
    const auto text = co_await get(url, ServerMetadata::kMaxBytes);
    if (!text) {
      last = text.error();
      // Another place would be no better.
      if (last.kind() == ErrorKind::unreachable || last.kind() == ErrorKind::timeout) break;
      continue;
    }
    auto read = read_server_metadata(*text, issuer_);
    if (read) co_return std::move(*read);
    last = std::move(read.error()).within(url.text());
  }
  co_return std::unexpected(std::move(last));
}

Task<Result<KeySet>> IssuerDocuments::keys() {
  std::string where = jwks_url_;
  if (where.empty()) {
    auto found = co_await metadata();
    if (!found) co_return std::unexpected(std::move(found.error()));
    where = std::move(found->jwks_uri);
  }
  if (where.empty()) co_return std::unexpected(errors::protocol("the issuer's metadata do not say where its keys are"));
  const auto url = net::Url::parse(where);
  if (!url) co_return std::unexpected(url.error());
  const auto text = co_await get(*url, KeySet::kMaxBytes);
  if (!text) {
    search_again_ = {};  // they may have moved
    co_return std::unexpected(text.error());
  }
  auto keys = KeySet::parse(*text);
  if (!keys) co_return std::unexpected(std::move(keys.error()).within(url->text()));
  co_return std::move(*keys);
}

Task<Result<std::string>> IssuerDocuments::introspect(Secret token) {
  const auto found = co_await metadata();
  if (!found) co_return std::unexpected(found.error());
  if (found->introspection_endpoint.empty())
    co_return std::unexpected(errors::protocol("the issuer's metadata do not say where tokens are introspected"));
  const auto url = net::Url::parse(found->introspection_endpoint);
  if (!url) co_return std::unexpected(url.error());
  Secret form("token=" + form_encoded(token.reveal()) + "&token_type_hint=access_token");
  Secret authorization(basic(client_));
  std::vector<net::Field> fields = {{"Content-Type", "application/x-www-form-urlencoded"},
                                    {"Accept", "application/json"},
                                    {"Accept-Encoding", "identity"}};
  if (wants_body(*found)) {
    form = Secret(form.reveal() + "&client_id=" + form_encoded(client_.client_id) +
                  "&client_secret=" + form_encoded(client_.client_secret.reveal()));
  } else {
    fields.push_back({"Authorization", authorization.reveal()});
  }
  const std::array<std::string_view, 1> body = {form.reveal()};
  co_return co_await receive({.url = *url, .method = "POST", .fields = fields, .body = body, .deadlines = kDeadlines},
                             kMaxIntrospection);
}

Task<Result<std::string>> IssuerDocuments::get(net::Url url, std::size_t limit) {
  const std::array<net::Field, 2> fields = {{{"Accept", "application/json"}, {"Accept-Encoding", "identity"}}};
  co_return co_await receive({.url = url, .fields = fields, .deadlines = kDeadlines}, limit);
}

Task<Result<std::string>> IssuerDocuments::receive(net::ClientRequest request, std::size_t limit) {
  auto response = co_await home_->http.send(request);
  if (!response) co_return std::unexpected(std::move(response.error()).within(request.url.text()));
  const unsigned status = response->status();
  if (is_redirect(status)) {
    co_return std::unexpected(
        errors::protocol(fmt::format("{} redirects to another place, which is not followed", request.url.text())));
  }
  if (status != 200) {
    co_return std::unexpected(status >= 500 || status == 429
                                  ? errors::unavailable(fmt::format("{} answered {}", request.url.text(), status))
                                  : errors::protocol(fmt::format("{} answered {}", request.url.text(), status)));
  }
  const auto body = co_await response->read_all(limit);
  if (!body) co_return std::unexpected(Error(body.error()).within(request.url.text()));
  co_return std::string(*body);
}

}  // namespace proteus::auth
