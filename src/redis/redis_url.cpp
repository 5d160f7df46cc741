#include "redis/redis_url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace proteus::redis {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::uint32_t kMaxDatabase = 1'000'000;
constexpr std::string_view kShape = "redis://user:password@host:6379/0, or rediss:// for TLS";

Error fault(std::string_view what) { return errors::invalid(fmt::format("the Redis URL {}", what)); }

// Rejects schemes that other clients accept and this one does not.
std::optional<Error> refuse_scheme(std::string_view scheme) {
  if (scheme.contains("sentinel"))
    return fault("names a Sentinel, which is not supported; name the Redis itself: redis://host:6379");
  if (scheme.contains("cluster"))
    return fault("names a Redis Cluster, which is not supported; name one Redis: redis://host:6379");
  if (scheme.starts_with("unix") || scheme.contains("socket"))
    return fault("names a Unix socket, which is not supported; name host and port: redis://host:6379");
  if (scheme != "redis" && scheme != "rediss") return fault(fmt::format("must look like {}", kShape));
  return std::nullopt;
}

Result<std::filesystem::path> read_query(std::string_view query, bool tls) {
  constexpr std::string_view kAuthorities = "sslrootcert=";
  if (query.empty()) return std::filesystem::path();
  if (!query.starts_with(kAuthorities) || query.contains('&'))
    return std::unexpected(fault("has a parameter that is not known; there is sslrootcert=FILE"));
  if (!tls) return std::unexpected(fault("has sslrootcert, and no TLS: write rediss://"));
  const auto file = net::percent_decoded(query.substr(kAuthorities.size()));
  if (!file || file->empty() || file->contains('\0')) return std::unexpected(fault("has no file in sslrootcert"));
  return std::filesystem::path(*file);
}

}  // namespace

Result<RedisUrl> RedisUrl::parse(std::string_view text) {
  if (text.empty()) return std::unexpected(fault(fmt::format("is empty; it must look like {}", kShape)));
  if (text.size() > kMaxBytes) return std::unexpected(fault("is too long"));
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return std::unexpected(fault(fmt::format("must look like {}", kShape)));
  std::string scheme(text.substr(0, colon));
  std::ranges::transform(scheme, scheme.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  if (auto refused = refuse_scheme(scheme)) return std::unexpected(std::move(*refused));
  const bool tls = scheme == "rediss";

  std::string_view rest = text.substr(colon + 3);
  if (rest.contains('#')) return std::unexpected(fault("has a fragment; write %23 for a # in a password"));
  const std::size_t asked = rest.find('?');
  const std::string_view query = asked == std::string_view::npos ? std::string_view{} : rest.substr(asked + 1);
  rest = rest.substr(0, asked);
  const std::size_t slash = rest.find('/');
  const std::string_view path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  std::string_view authority = rest.substr(0, slash);
  std::string_view credentials;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    credentials = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  if (authority.contains(','))
    return std::unexpected(fault("names several hosts, which is not supported; name one Redis"));

  const auto authorities = read_query(query, tls);
  if (!authorities) return std::unexpected(authorities.error());
  std::uint32_t database = 0;
  if (!path.empty()) {
    const auto [stop, status] = std::from_chars(path.data(), path.data() + path.size(), database);
    if (status != std::errc{} || stop != path.data() + path.size() || database > kMaxDatabase)
      return std::unexpected(fault("must end in the number of a database, or in nothing"));
  }
  if (authority.empty() || authority.starts_with(':')) return std::unexpected(fault("has no host"));
  // The default port of Redis is the same with and without TLS.
  const bool has_port = authority.find(':', authority.rfind(']') + 1) != std::string_view::npos;
  auto server = net::Url::parse(fmt::format("{}://{}{}", tls ? "https" : "http", authority, has_port ? "" : ":6379"));
  if (!server) return std::unexpected(fault("has a host or a port that is none"));

  const std::size_t divides = credentials.find(':');
  auto user = net::percent_decoded(credentials.substr(0, divides));
  auto password = net::percent_decoded(divides == std::string_view::npos ? "" : credentials.substr(divides + 1));
  if (!user || !password) return std::unexpected(fault("has a % in user or password that encodes nothing; write %25"));
  if (!user->empty() && password->empty())
    return std::unexpected(fault("has a user and no password; a password alone is written :password@"));
  return RedisUrl{.server = std::move(*server),
                  .user = std::move(*user),
                  .password = Secret(std::move(*password)),
                  .database = database,
                  .authorities = *authorities};
}

}  // namespace proteus::redis
