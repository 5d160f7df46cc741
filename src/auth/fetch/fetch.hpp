#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/tasks/task.hpp"
#include "net/http/url.hpp"

// Requests to issuers and authorization servers, as values that do not depend on how they are sent.
namespace proteus::auth {

// Whether a GET may be redirected to another path. It is never redirected to another origin.
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

// An answer with any status except a redirect.
struct FetchAnswer {
  unsigned status = 0;
  std::string body = {};
  std::string challenge = {};   // all WWW-Authenticate fields
  std::string dpop_nonce = {};  // DPoP-Nonce
};

// The port that sends requests. Implementations follow redirects only as the request allows, limit time and size, and
// obey the egress rules.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;
  virtual ~Fetch() = default;

  // Fails if no answer arrives, or if it is too large or a redirect that may not be followed. Any other answer is a
  // success, whatever its status.
  virtual Task<Result<FetchAnswer>> fetch(FetchRequest request) = 0;
};

}  // namespace proteus::auth
