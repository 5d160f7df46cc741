#pragma once

#include <array>
#include <functional>
#include <map>
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
#include "base/secret.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "base/waiting.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/grants/grant_servers.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// What happened to a grant.
struct GrantChange {
  GrantPointer grant;  // as it is now, or as it was last
  GrantState state = GrantState::none;
};

// The grants of everybody, sealed in the store. A grant that was acknowledged is durable. Before a refresh token is
// sent it is recorded that it will be, and the new one is durable before anything that came with it is used: a process
// that dies between these two cannot tell whether the old one still works, and shows the grant as needing a sign-in
// (ADR 29).
//
// Thread-safe unless something else is said. `close` must have ended before it is destroyed.
class Vault {
 public:
  static constexpr std::size_t kMost = 100'000;
  // So long before its end a token is refreshed, and is not used any more; less where it does not live long.
  static constexpr std::chrono::seconds kAhead{60};
  static constexpr std::chrono::seconds kMargin{5};
  // A token that is refused so soon after it took the place of one that was refused is not followed by another.
  static constexpr std::chrono::seconds kJustGiven{10};

  // A request for a token that failed is not repeated for so long.
  static constexpr std::chrono::seconds kTryAgain{2};

  // Everything outlives it.
  struct Dependencies {
    boost::asio::io_context& control;
    store::Store& store;
    const Clock& clock;
    GrantServers& servers;
    bool shared = false;  // with other processes: a refresh token is sent by one of them
  };
  explicit Vault(Dependencies dependencies);
  ~Vault();
  Vault(const Vault&) = delete;
  Vault& operator=(const Vault&) = delete;

  // At the start: what is in the store. What cannot be opened stays there, and is not used.
  Task<Result<>> load();
  // On the control thread.
  Task<> close();

  // On the control thread, where other processes share the store: one of them changed this record.
  Task<Result<>> follow(std::string kind, std::string id);
  Task<Result<>> follow_all();

  Clock::Wall now() const { return dependencies_.clock.wall(); }

  // Null where there is none, or never was.
  GrantPointer find(const GrantKey& key) const;
  GrantPointer find(const GrantOwner& owner, const GrantTarget& target) const { return find({owner, target}); }
  GrantState state(const GrantOwner& owner, const GrantTarget& target) const;
  // By when they were connected: all of them, or one owner's. Those that are obtained without anybody's help are not
  // among them.
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

  // A request that needs a token.
  struct Wanted {
    GrantOwner owner;
    GrantTarget target;
    std::optional<std::uint64_t> refused = {};  // the version of the grant whose token was just refused
    Secret caller_token = {};                   // with which the caller came, where the grant needs it
    bool ahead = false;                         // it was not refused: it ends soon
    std::string challenge = {};                 // that it was refused with
  };
  // One whose access token can be used now: refreshed first where it is about to end or was refused, once for all who
  // ask at the same time, on whichever thread. An error of kind `unauthenticated` where its owner has to sign in.
  Task<Result<GrantPointer>> usable(Wanted wanted);
  // The same where that needs no waiting; null where it does, or there is none.
  GrantPointer usable_now(const GrantKey& key, const Secret& caller_token = {});
  // An upstream wants more scopes than the grant has. Those to ask for: the union; an error where they were asked for
  // before, or too often.
  Result<auth::oauth::Scopes> widen(const Grant& grant, const auth::oauth::Scopes& wanted);

  // Clients that were registered dynamically, one for each issuer and redirect URI.
  std::optional<auth::oauth::Client> registration(std::string_view issuer, std::string_view redirect_uri) const;
  Task<Result<>> keep(auth::oauth::Client client);
  Task<Result<>> forget_registration(std::string issuer, std::string redirect_uri);

  // Called on the control thread after each change that is not a mere refresh. Any number of them; before anything is
  // asked.
  using OnChange = std::function<void(const GrantChange&)>;
  void on_change(OnChange on_change) { on_change_.push_back(std::move(on_change)); }

 private:
  // Callers on many threads look, and few change anything.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<GrantKey, GrantPointer, GrantKeyHash> grants;
    std::unordered_map<GrantKey, auth::oauth::StepUp, GrantKeyHash> step_ups;
  };
  using Answer = std::shared_ptr<Delivery<Result<GrantPointer>>>;
  static constexpr std::size_t kMostFailures = 10'000;
  // One at a time changes a grant; those who want it used wait for that.
  class Flight;

  Shard& shard_of(const GrantKey& key);
  const Shard& shard_of(const GrantKey& key) const;
  // Under that key in place of the one it says by itself, where a caller's token is part of it.
  GrantPointer publish(Grant grant);
  GrantPointer publish(const GrantKey& key, Grant grant);
  void remove(const GrantKey& key);
  // Those of an owner that were obtained without anybody's help.
  void remove_obtained(const GrantOwner& owner);
  // Those that were obtained without anybody's help and have ended; all of them where that makes no room.
  void remove_ended();
  // Whether there may be one more, with room made where it is needed.
  bool has_room();
  std::size_t size() const;
  void tell(const GrantPointer& grant, GrantState state);

  // On the control thread.
  void renew(Wanted wanted, Answer answer);
  void renew_soon(const Grant& grant, const Secret& caller_token);
  bool is_usable(const Grant& grant) const;
  Task<> renew(std::shared_ptr<Flight> flight, GrantKey key, GrantPointer grant, Secret caller_token, bool is_refused);
  void note_failure(const GrantKey& key, const Error& error);
  // Of a grant whose tokens are all refused: its upstream may have gone over to another authorization server.
  Task<> look_for_issuer(std::shared_ptr<Flight> flight, GrantKey key, GrantPointer grant, std::string challenge);
  Task<Result<GrantPointer>> obtain(GrantKey key, Secret caller_token, bool is_refused);
  Task<Result<GrantPointer>> refresh(GrantPointer grant, bool is_refused);
  Task<Result<GrantPointer>> take_over(GrantPointer grant, Refreshed refreshed, bool is_refused);
  Task<Result<GrantPointer>> give_up(GrantPointer grant, std::string why);
  Task<Result<>> write(Grant& grant, bool rotation_begun);
  Task<Result<>> follow_client(std::string id);
  // Another process has begun to refresh it: waits for how that ends.
  Task<Result<GrantPointer>> wait_for_other(GrantPointer grant);
  void take_over_record(Grant grant);
  Task<std::shared_ptr<Flight>> take_off(GrantKey key);
  Task<Result<GrantPointer>> do_put(Grant grant, std::string who);
  Task<Result<Disconnected>> do_disconnect(std::string id, std::string who);
  store::Write audit(std::string who, std::string what, const Grant& grant) const;

  const Dependencies dependencies_;
  std::array<Shard, 16> shards_;
  std::vector<OnChange> on_change_;
  mutable std::mutex clients_mutex_;
  std::map<std::pair<std::string, std::string>, auth::oauth::Client> clients_;  // by issuer and redirect URI

  // Of the control thread.
  std::unordered_map<GrantKey, std::weak_ptr<Flight>, GrantKeyHash> flights_;
  struct Failure {
    Clock::Monotonic until;
    Error error;
  };
  std::unordered_map<GrantKey, Failure, GrantKeyHash> failures_;  // of late
  Bell landed_;
  TaskGroup tasks_;
  std::uint64_t last_version_ = 0;
  std::size_t obtained_ = 0;  // since those that have ended were removed
  bool closed_ = false;
};

}  // namespace proteus::gateway
