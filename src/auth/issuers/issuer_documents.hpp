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
#include "base/tasks/waiting.hpp"
#include "net/http/url.hpp"

namespace proteus::auth {

// Requests documents of an issuer over HTTP, with limits on size and time. Does not follow redirects: the settings and
// the issuer's metadata alone say where the documents are. Belongs to the home's thread.
class IssuerDocuments {
 public:
  // `kRetryAfter` is how long a failed search for the metadata is not repeated; `kFresh` is how long found metadata are
  // used.
  static constexpr std::chrono::seconds kRetryAfter{10};
  static constexpr std::chrono::hours kFresh{1};

  IssuerDocuments(std::shared_ptr<IssuerHome> home, const IssuerSettings& settings);

  // Concurrent calls share one search.
  Task<Result<ServerMetadata>> metadata();
  // Fetches the keys from the URL in the settings, or else in the metadata.
  Task<Result<KeySet>> keys();
  // Returns the issuer's answer about a token.
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
