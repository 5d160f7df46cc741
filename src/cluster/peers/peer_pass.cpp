#include "cluster/peers/peer_pass.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text/base64.hpp"

namespace proteus::cluster {
namespace {

constexpr std::size_t kLongest = 4096;

std::int64_t milliseconds_of(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string bound_to(std::string_view method, std::string_view target) {
  return fmt::format("peer {} {}", method, target);
}

Error no_pass() { return errors::unauthenticated("this is for other processes of the cluster only"); }

}  // namespace

std::string PeerPasses::mint(std::string_view to, std::string_view method, std::string_view target,
                             Clock::Wall now) const {
  const std::string plain = fmt::format("{}\n{}\n{}", milliseconds_of(now), to, self_);
  return base64_encode(key_.seal(plain, bound_to(method, target)), Base64::url);
}

Result<std::string> PeerPasses::check(std::string_view pass, std::string_view method, std::string_view target,
                                      Clock::Wall now) const {
  if (pass.size() > kLongest) return std::unexpected(no_pass());
  const auto sealed = base64_decode(pass, Base64::url);
  const auto opened = sealed ? key_.open(*sealed, bound_to(method, target)) : std::nullopt;
  if (!opened) return std::unexpected(no_pass());
  const std::string_view plain = *opened;
  const std::size_t first = plain.find('\n');
  const std::size_t second = plain.find('\n', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::unexpected(no_pass());
  const char* const begin = plain.data();
  const char* const end = begin + first;
  std::int64_t at = 0;
  if (std::from_chars(begin, end, at).ptr != end) return std::unexpected(no_pass());
  const std::chrono::milliseconds apart(milliseconds_of(now) - at);
  if (apart > kGoodFor || apart < -kGoodFor) {
    return std::unexpected(errors::unauthenticated(
        "the clocks of two processes are more than a minute apart, or the request is an old one"));
  }
  if (plain.substr(first + 1, second - first - 1) != self_)
    return std::unexpected(errors::conflict("the request was meant for another process"));
  return std::string(plain.substr(second + 1));
}

}  // namespace proteus::cluster
