#include "gateway/callers/credentials.hpp"

#include <algorithm>

namespace proteus::gateway {
namespace {

bool has_scheme(std::string_view authorization, std::string_view scheme) {
  if (authorization.size() <= scheme.size()) return false;
  return std::ranges::equal(authorization.substr(0, scheme.size()), scheme,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
}

}  // namespace

Credentials credentials_of(std::string_view authorization) {
  if (authorization.empty()) return {};
  constexpr std::string_view kBearer = "bearer ";
  constexpr std::string_view kDpop = "dpop ";
  Credentials found{Credentials::Scheme::unknown, {}};
  std::size_t skipped = 0;
  if (has_scheme(authorization, kBearer)) {
    found.scheme = Credentials::Scheme::bearer;
    skipped = kBearer.size();
  } else if (has_scheme(authorization, kDpop)) {
    found.scheme = Credentials::Scheme::dpop;
    skipped = kDpop.size();
  } else {
    return found;
  }
  found.token = authorization.substr(skipped);
  found.token.remove_prefix(std::min(found.token.find_first_not_of(' '), found.token.size()));
  return found;
}

}  // namespace proteus::gateway
