// Measures the cost of verifying a new token by algorithm, of finding a verified token again, and of checking a DPoP
// proof, which takes a signature check each time. With BENCH_MEMORY set, prints the resident memory per verified token
// to standard error.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "auth/issuers/identity.hpp"
#include "auth/issuers/kept_by_token.hpp"
#include "auth/testing/signing_key.hpp"
#include "auth/tokens/dpop.hpp"
#include "auth/tokens/jwt.hpp"
#include "bench.hpp"
#include "json/canonical.hpp"

namespace proteus {
namespace {

using namespace auth;

constexpr Clock::Wall kNow{std::chrono::hours(500'000)};
constexpr std::int64_t kNowSeconds = 1'800'000'000;
constexpr int kSubjects = 100'000;

// Returns about 1.1 KB of claims, as large as those of real providers.
boost::json::object claims_of(int subject) {
  boost::json::array groups;
  for (int i = 0; i < 16; ++i)
    groups.push_back(boost::json::value(fmt::format("7f1d3c52-94ab-4c1e-8e0a-0000000000{:02}", i)));
  return {{"iss", "https://id.example/realms/acme"},
          {"sub", fmt::format("f:5d1c:{:08}", subject)},
          {"aud", boost::json::array{"https://gateway.example/mcp"}},
          {"iat", kNowSeconds},
          {"nbf", kNowSeconds},
          {"exp", kNowSeconds + 3600},
          {"jti", fmt::format("{:032}", subject)},
          {"client_id", "desktop"},
          {"scope", "openid profile tools"},
          {"preferred_username", fmt::format("user{}", subject)},
          {"groups", groups},
          {"realm_access", {{"roles", boost::json::array{"user", "offline_access"}}}}};
}

std::string hash_of(std::string_view token) {
  const auto digest = json::sha256(token);
  return test::encode(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

IdentityPointer verified(const std::string& token, const KeySet& keys) {
  const auto read = Jwt::parse(token);
  if (!read || !check_is_access_token(*read)) return nullptr;
  auto claims = Claims::read(read->payload());
  if (!claims || !check_claims(*claims, "https://id.example/realms/acme", kNow, std::chrono::seconds(30)) ||
      !check_signature(*read, keys, kAlgorithms)) {
    return nullptr;
  }
  auto scopes = claims->scopes();
  return std::make_shared<const Identity>(Identity{.claims = std::move(*claims),
                                                   .scopes = std::move(scopes),
                                                   .expires = kNow + std::chrono::hours(1),
                                                   .usable_until = kNow + std::chrono::hours(1),
                                                   .thumbprint = {}});
}

void first_sight(benchmark::State& state, Algorithm algorithm) {
  const auto& key = test::key_of(algorithm);
  const KeySet keys = KeySet::parse(test::key_set({key.jwk()})).value();
  const std::string token = key.token(claims_of(1));
  state.counters["bytes"] = static_cast<double>(token.size());
  for (auto _ : state) {
    auto identity = verified(token, keys);
    if (!identity) state.SkipWithError("the token is refused");
    benchmark::DoNotOptimize(identity);
  }
}

void proof(benchmark::State& state, Algorithm algorithm) {
  const auto& key = test::key_of(algorithm, "");
  const std::string thumbprint = PublicKey::read(key.jwk()).value().thumbprint();
  const std::string text = key.token({{"jti", "1"},
                                      {"htm", "POST"},
                                      {"htu", "https://gateway.example/mcp"},
                                      {"iat", kNowSeconds},
                                      {"ath", hash_of("token")}},
                                     {{"typ", "dpop+jwt"}, {"jwk", key.jwk()}});
  for (auto _ : state) {
    auto checked = check_proof(text, {.method = "POST",
                                      .url = "https://gateway.example/mcp",
                                      .token = "token",
                                      .thumbprint = thumbprint,
                                      .now = kNow});
    if (!checked) state.SkipWithError("the proof is refused");
    benchmark::DoNotOptimize(checked);
  }
}

// Excludes hashing the token, which a connection does only once.
void look_up(benchmark::State& state) {
  KeptByToken<int> kept(kSubjects);
  std::vector<json::Digest> tokens;
  for (int i = 0; i < kSubjects; ++i) {
    tokens.push_back(json::sha256(std::to_string(i)));
    kept.keep(tokens.back(), i, kNow + std::chrono::hours(1), kNow);
  }
  std::size_t at = 0;
  for (auto _ : state) {
    const auto* found = kept.find(tokens[at++ * 7919 % tokens.size()], kNow);
    if (found == nullptr) state.SkipWithError("a token is missing");
    benchmark::DoNotOptimize(found);
  }
}

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void tell_memory() {
  const auto& key = test::key_of(Algorithm::eddsa);
  const KeySet keys = KeySet::parse(test::key_set({key.jwk()})).value();
  KeptByToken<IdentityPointer> known(kSubjects);
  const std::size_t before = resident_bytes();
  std::size_t size = 0;
  for (int i = 0; i < kSubjects; ++i) {
    const std::string token = key.token(claims_of(i));
    size = token.size();
    auto identity = verified(token, keys);
    if (!identity) std::abort();
    known.keep(json::sha256(token), std::move(identity), kNow + std::chrono::hours(1), kNow);
  }
  std::fprintf(stderr, "memory per verified token: %zu bytes, of a token of %zu\n",
               (resident_bytes() - before) / kSubjects, size);
}

}  // namespace
}  // namespace proteus

int main(int argc, char** argv) {
  using namespace proteus;
  if (std::getenv("BENCH_MEMORY") != nullptr) tell_memory();
  for (const auto algorithm : auth::kAlgorithms) {
    bench::add(fmt::format("first sight/{}", to_string(algorithm)).c_str(),
               [algorithm](benchmark::State& state) { first_sight(state, algorithm); });
    bench::add(fmt::format("proof/{}", to_string(algorithm)).c_str(),
               [algorithm](benchmark::State& state) { proof(state, algorithm); });
  }
  bench::add("look-up/100,000 tokens", look_up);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
