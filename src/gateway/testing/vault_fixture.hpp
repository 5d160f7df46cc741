#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "base/tasks/waiting.hpp"
#include "base/testing/test_run.hpp"
#include "gateway/grants/vault.hpp"
#include "store/testing/full_store.hpp"

// For tests: a vault whose authorization servers answer what the test wants, when it wants.
namespace proteus::gateway::test {

using namespace std::chrono_literals;

class ScriptedServers final : public GrantServers {
 public:
  explicit ScriptedServers(boost::asio::io_context& io) : released_(io.get_executor()) {}

  Task<Refreshed> refresh(GrantPointer grant) override {
    sent.push_back(grant->tokens.refresh_token.reveal());
    while (held)
      co_await released_.wait();
    Refreshed next =
        answers.empty() ? Refreshed{.outcome = Refreshed::Outcome::unused, .why = "no answer"} : answers.front();
    if (!answers.empty()) answers.pop_front();
    co_return next;
  }
  Task<Result<>> revoke(GrantPointer grant) override {
    revoked.push_back(grant->tokens.refresh_token.reveal());
    co_return Result<>{};
  }
  Task<Result<std::string>> issuer_now(GrantPointer, std::string challenge) override {
    challenges.push_back(std::move(challenge));
    while (held)
      co_await released_.wait();
    co_return issuer;
  }
  Obtaining obtaining(const GrantTarget& target) const override {
    return target == automatic ? automatically : Obtaining::by_person;
  }
  Task<Result<Grant>> obtain(GrantOwner, GrantTarget, Secret caller_token) override {
    obtained_with.push_back(caller_token.reveal());
    Result<Grant> answer = Grant();
    answer->tokens = obtained;
    if (refused) answer = std::unexpected(*refused);
    while (held)
      co_await released_.wait();
    co_return answer;
  }

  void release() {
    held = false;
    released_.ring();
  }

  bool held = false;
  Obtaining automatically = Obtaining::by_gateway;
  std::deque<Refreshed> answers;
  std::vector<std::string> sent;
  std::vector<std::string> revoked;
  std::string issuer = "https://as.example";
  std::vector<std::string> challenges;
  GrantTarget automatic;
  auth::oauth::TokenAnswer obtained;
  std::vector<std::string> obtained_with;
  std::optional<Error> refused;  // if set, `obtain` fails with this

 private:
  Bell released_;
};

class VaultFixture : public ::testing::Test {
 protected:
  explicit VaultFixture(bool shared = false) : is_shared(shared) { start(); }
  ~VaultFixture() override { stop(); }

  // Starts a process, with the same store as the previous one.
  void start() {
    servers = std::make_unique<ScriptedServers>(io);
    vault = std::make_unique<Vault>(Vault::Dependencies{io, store, clock, *servers, is_shared});
    vault->on_change([this](const GrantChange& change) {
      changes.push_back(change.grant->owner_name + " " + std::string(to_string(change.state)));
    });
    EXPECT_TRUE(proteus::test::run(io, vault->load()));
  }
  void stop() {
    servers->release();
    proteus::test::run(io, vault->close());
  }

  auth::oauth::TokenAnswer tokens(std::string access, std::string refresh, std::chrono::seconds life = 1h) const {
    auth::oauth::TokenAnswer made;
    made.access_token = Secret(std::move(access));
    made.refresh_token = Secret(std::move(refresh));
    made.expires = clock.wall() + life;
    made.scopes = {"read"};
    return made;
  }
  Refreshed renewed(std::string access, std::string refresh) const {
    return {.outcome = Refreshed::Outcome::renewed, .tokens = tokens(std::move(access), std::move(refresh))};
  }

  Grant grant_of(std::string owner, std::string access = "a1", std::string refresh = "r1") const {
    Grant grant;
    grant.owner = GrantOwner("https://id.example\n" + owner);
    grant.owner_name = std::move(owner);
    grant.target = kTarget;
    grant.upstream = "files";
    grant.resource = "https://files.example/mcp";
    grant.server.issuer = "https://as.example";
    grant.client.issuer = "https://as.example";
    grant.client.id = "proteus";
    grant.tokens = tokens(std::move(access), std::move(refresh));
    return grant;
  }
  GrantPointer put(Grant grant) {
    auto kept = proteus::test::run(io, vault->put(std::move(grant), "a test"));
    if (!kept) throw std::runtime_error(kept.error().message());
    return *kept;
  }
  Vault::Wanted wanted(std::string owner, std::optional<std::uint64_t> refused = {}) const {
    return {.owner = GrantOwner("https://id.example\n" + owner), .target = kTarget, .refused = refused};
  }
  Result<GrantPointer> use(Vault::Wanted given) { return proteus::test::run(io, vault->usable(std::move(given))); }
  // Returns the value of the Authorization header, or the kind of the error.
  std::string used(std::string owner, std::optional<std::uint64_t> refused = {}) {
    const auto grant = use(wanted(std::move(owner), refused));
    return grant ? (*grant)->authorization() : std::string(to_string(grant.error().kind()));
  }
  GrantState state(std::string owner) const {
    return vault->state(GrantOwner("https://id.example\n" + owner), kTarget);
  }

  const GrantTarget kTarget{"https://files.example/mcp\nauthorization_code\n\n"};
  const bool is_shared;
  boost::asio::io_context io;
  ManualClock clock;
  store::test::FullStore store;
  std::unique_ptr<ScriptedServers> servers;
  std::unique_ptr<Vault> vault;
  std::vector<std::string> changes;
};

}  // namespace proteus::gateway::test
