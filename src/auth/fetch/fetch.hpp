#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "base/task.hpp"
#include "net/http/url.hpp"

// What is asked of issuers and authorization servers, apart from how it is sent.
namespace proteus::auth {

// Whether a GET may be sent on to another path. It is never sent to another origin.
enum class Redirects : std::uint8_t { refused, within_origin };

struct FetchRequest {
  static constexpr std::size_t kMaxAnswer = std::size_t{256} * 1024;

  net::Url url;
  std::string method = "GET";
  std::vector<std::pair<std::string, Secret>> fields = {};
  Secret body = {};
  Redirects redirects = Redirects::refused;
  std::size_t limit = kMaxAnswer;  // of the answer's body
};

// An answer of any status but a redirect.
struct FetchAnswer {
  unsigned status = 0;
  std::string body = {};
  std::string challenge = {};   // WWW-Authenticate
  std::string dpop_nonce = {};  // DPoP-Nonce
};

// Whoever sends. Refuses redirects as the request says, bounds time and size, and obeys the rules for egress.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;
  virtual ~Fetch() = default;

  // Fails where there is no answer; any status is one.
  virtual Task<Result<FetchAnswer>> fetch(FetchRequest request) = 0;
};

}  // namespace proteus::auth
