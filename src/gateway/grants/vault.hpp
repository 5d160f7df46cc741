#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/delivery.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "gateway/grants/grant.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// What a refresh came to.
struct Refreshed {
  enum class Outcome : std::uint8_t {
    renewed,   // `tokens` are the new ones; without a refresh token the old one stays
    refused,   // the server does not know the grant any more
    not_sent,  // nothing has reached the server: the refresh token is unused
    unknown,   // it may have been used
  };
  Outcome outcome = Outcome::not_sent;
  auth::oauth::TokenAnswer tokens = {};
  std::string why = {};  // for people, where it was not renewed
};

// How the vault reaches authorization servers. Called on the control thread.
class GrantServers {
 public:
  virtual ~GrantServers() = default;
  virtual Task<Refreshed> refresh(GrantPointer grant) = 0;
  // Where the server offers it (RFC 7009).
  virtual Task<Result<>> revoke(GrantPointer grant) = 0;
};

// What happened to a grant.
struct GrantChange {
  GrantPointer grant;  // as it is now, or as it was last
  GrantState state = GrantState::none;
};

// The grants of everybody, sealed in the store. A grant that was acknowledged is durable. Before a refresh token is sent
// it is recorded that it will be, and the new one is durable before anything that came with it is used: a process that
// dies between these two cannot tell whether the old one still works, and shows the grant as needing a sign-in.
//
// Thread-safe unless something else is said. `close` must have ended before it is destroyed.
class Vault {
 public:
  static constexpr std::size_t kMost = 100'000;
  // A token that ends within this time is refreshed before it is used; one that has less than the second left is not
  // used at all.
  static constexpr std::chrono::seconds kAhead{60};

  // Everything outlives it.
  struct Dependencies {
    boost::asio::io_context& control;
    store::Store& store;
    const Clock& clock;
    GrantServers& servers;
  };
  explicit Vault(Dependencies dependencies);
  ~Vault();
  Vault(const Vault&) = delete;
  Vault& operator=(const Vault&) = delete;

  // At the start: what is in the store. What cannot be opened stays there, and is not used.
  Task<Result<>> load();
  // On the control thread.
  Task<> close();

  // Null where there is none, or never was.
  GrantPointer find(const GrantOwner& owner, const GrantTarget& target) const;
  GrantState state(const GrantOwner& owner, const GrantTarget& target) const;
  // By when they were connected: all of them, or one owner's.
  std::vector<GrantPointer> all() const;
  std::vector<GrantPointer> all_of(const GrantOwner& owner) const;
  GrantPointer find_id(std::string_view id) const;

  // Keeps a new grant in place of the one its owner has there, if any; its id is given here where it has none. Durable
  // when this succeeds. `who` is for the audit: the principal, or the operator.
  Task<Result<GrantPointer>> put(Grant grant, std::string who);
  // Forgets it, then revokes it at the server where that is offered. An error of kind `not_found` where there is none.
  struct Disconnected {
    GrantPointer grant;
    bool revoked = false;
    std::string why_not = {};  // for people
  };
  Task<Result<Disconnected>> disconnect(std::string id, std::string who);

  // One whose access token can be used now: refreshed first where it is about to end, once for all who ask at the same
  // time, on whichever thread. `refused` names the version whose token an upstream has just refused: it is refreshed
  // unless somebody has done so since. An error of kind `unauthenticated` where its owner has to sign in.
  Task<Result<GrantPointer>> usable(GrantOwner owner, GrantTarget target, std::optional<std::uint64_t> refused = {});
  // The same where that needs no waiting; null where it does, or there is none.
  GrantPointer usable_now(const GrantOwner& owner, const GrantTarget& target) const;
  // Its owner has to sign in again, whatever the server says of its refresh token.
  Task<> give_up(GrantPointer grant, std::string why);

  // Clients that were registered dynamically, one for each issuer and redirect URI.
  std::optional<auth::oauth::Client> registration(std::string_view issuer, std::string_view redirect_uri) const;
  Task<Result<>> keep(auth::oauth::Client client);
  Task<Result<>> forget_registration(std::string issuer, std::string redirect_uri);

  // Called on the control thread after each change that is not a mere refresh. Any number of them; before anything is
  // asked.
  using OnChange = std::function<void(const GrantChange&)>;
  void on_change(OnChange on_change) { on_change_.push_back(std::move(on_change)); }

 private:
  struct Key {
    GrantOwner owner;
    GrantTarget target;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  // Callers on many threads look, and few change anything.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Key, GrantPointer, KeyHash> grants;
  };

  std::array<Shard, 16> shards_;
  std::vector<OnChange> on_change_;
};

}  // namespace proteus::gateway
