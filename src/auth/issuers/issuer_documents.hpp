#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"
#include "auth/issuers/issuer_home.hpp"
#include "auth/issuers/settings.hpp"
#include "auth/tokens/key_set.hpp"
#include "auth/tokens/metadata.hpp"
#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "net/http/url.hpp"

namespace proteus::auth {

// What is asked of an issuer over HTTP, with bounds on size and time. Redirects are not followed: an issuer says where
// its documents are, and not by the word of whoever answers. Belongs to the home's thread.
class IssuerDocuments {
 public:
  // How long a failed search for the metadata is not repeated, and a found document is used.
  static constexpr std::chrono::seconds kRetryAfter{10};
  static constexpr std::chrono::hours kFresh{1};

  IssuerDocuments(std::shared_ptr<IssuerHome> home, const IssuerSettings& settings);

  // Those who ask at once share one search.
  Task<Result<ServerMetadata>> metadata();
  // From where the settings or the metadata say.
  Task<Result<KeySet>> keys();
  // What the issuer answers about a token.
  Task<Result<std::string>> introspect(Secret token);

 private:
  Task<Result<ServerMetadata>> search();
  Task<Result<std::string>> get(net::Url url, std::size_t limit);
  Task<Result<std::string>> receive(FetchRequest request);

  const std::shared_ptr<IssuerHome> home_;
  const std::string issuer_;
  const std::string jwks_url_;
  const ClientCredentials client_;
  std::optional<Result<ServerMetadata>> found_;
  Clock::Monotonic search_again_{};
  bool is_searching_ = false;
  Bell searched_;
};

}  // namespace proteus::auth
