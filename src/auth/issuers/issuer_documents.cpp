#include "auth/issuers/issuer_documents.hpp"

#include <utility>

#include <fmt/format.h>

#include "auth/fetch/form.hpp"
#include "auth/fetch/http_fetch.hpp"
#include "base/log/log.hpp"

namespace proteus::auth {
namespace {

// Returns whether the issuer states that it accepts credentials in the body and not in a header field.
bool wants_body(const ServerMetadata& metadata) {
  const auto& methods = metadata.introspection_endpoint_auth_methods.empty()
                            ? metadata.token_endpoint_auth_methods
                            : metadata.introspection_endpoint_auth_methods;
  return has_text(methods, "client_secret_post") && !has_text(methods, "client_secret_basic");
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
  // If a search fails, the metadata found before stay in use.
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
      // Another place would not help.
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
    search_again_ = {};  // the keys may have moved
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
  std::string form;
  append_form(form, "token", token.reveal());
  append_form(form, "token_type_hint", "access_token");
  FetchRequest request{.url = *url, .method = "POST"};
  request.fields.emplace_back("Content-Type", Secret("application/x-www-form-urlencoded"));
  if (wants_body(*found)) {
    append_form(form, "client_id", client_.client_id);
    append_form(form, "client_secret", client_.client_secret.reveal());
  } else {
    request.fields.emplace_back("Authorization", Secret(basic_credentials(client_.client_id, client_.client_secret)));
  }
  request.body = Secret(std::move(form));
  co_return co_await receive(std::move(request));
}

Task<Result<std::string>> IssuerDocuments::get(net::Url url, std::size_t limit) {
  co_return co_await receive({.url = std::move(url), .limit = limit});
}

Task<Result<std::string>> IssuerDocuments::receive(FetchRequest request) {
  const std::string where = request.url.text();
  auto answer = co_await HttpFetch(home_->http).fetch(std::move(request));
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  if (answer->status != 200) {
    std::string message = fmt::format("{} answered {}", where, answer->status);
    co_return std::unexpected(answer->status >= 500 || answer->status == 429 ? errors::unavailable(std::move(message))
                                                                             : errors::protocol(std::move(message)));
  }
  co_return std::move(answer->body);
}

}  // namespace proteus::auth
