#pragma once

#include "auth/fetch/fetch.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::auth {

// Sends over an HTTP client, whose address filter decides where requests may connect. Belongs to the client's thread;
// the client must outlive it. Each request has 15 seconds, and so has each redirect that is followed.
class HttpFetch final : public Fetch {
 public:
  static constexpr int kMaxRedirects = 3;

  explicit HttpFetch(net::HttpClient& http) : http_(http) {}

  Task<Result<FetchAnswer>> fetch(FetchRequest request) override;

 private:
  net::HttpClient& http_;
};

}  // namespace proteus::auth
