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
#include "base/secrets/secret.hpp"
#include "base/tasks/delivery.hpp"
#include "base/tasks/task.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/grants/grant_servers.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// A change of a grant.
struct GrantChange {
  GrantPointer grant;  // as it is now, or as it was last
  GrantState state = GrantState::none;
};

// The grants of all owners, sealed in the store. A grant that was acknowledged is durable. Before a refresh token is
// sent, the store records that it will be; its successor is stored before anything that came with it is used. If a
// process dies between these two, nobody can tell whether the old refresh token still works, and the next process shows
// the grant as needing a sign-in (ADR 29).
//
// Thread-safe, except for functions that are marked otherwise. `close` must complete before it is destroyed.
class Vault {
 public:
  static constexpr std::size_t kMost = 100'000;
  // How long before its end a token is refreshed, and how long before its end it is no longer used. Less if the token
  // is short-lived.
  static constexpr std::chrono::seconds kAhead{60};
  static constexpr std::chrono::seconds kMargin{5};
  // If a token replaced a refused one and is itself refused within this time, it is not replaced again.
  static constexpr std::chrono::seconds kJustGiven{10};

  // Pause before a failed request for a token is repeated.
  static constexpr std::chrono::seconds kTryAgain{2};
  // Pause between refreshes of a token that can still be used.
  static constexpr std::chrono::seconds kTryAheadAgain{5};

  // How long an owner is asked for the same scopes: as long as a link to sign in is valid.
  static constexpr std::chrono::minutes kWideningLife{10};
  // How often a question for scopes may be widened within this time.
  static constexpr unsigned kMostWidenings = 5;

  // The shortest time between two registrations of a client at one server.
  static constexpr std::chrono::minutes kRegisterAgain{10};

  // All references must outlive it.
  struct Dependencies {
    boost::asio::io_context& control;
    store::Store& store;
    const Clock& clock;
    GrantServers& servers;
    bool shared = false;  // with other processes, of which only one sends a refresh token
  };
  explicit Vault(Dependencies dependencies);
  ~Vault();
  Vault(const Vault&) = delete;
  Vault& operator=(const Vault&) = delete;

  // Loads what is in the store, at start-up. Records that cannot be opened stay there and are not used.
  Task<Result<>> load();
  // To be called on the control thread. Rejects new requests for tokens and waits for those under way.
  Task<> close();

  // To be called on the control thread if other processes share the store: takes over this record, which one of them
  // changed.
  Task<Result<>> follow(std::string kind, std::string id);
  Task<Result<>> follow_all();

  Clock::Wall now() const { return dependencies_.clock.wall(); }

  // Returns null if there is none.
  GrantPointer find(const GrantKey& key) const;
  GrantPointer find(const GrantOwner& owner, const GrantTarget& target) const { return find({owner, target}); }
  GrantState state(const GrantOwner& owner, const GrantTarget& target) const;
  // Return the grants, or those of one owner, in the order in which they were connected. Grants that were obtained
  // without a person's help are not among them.
  std::vector<GrantPointer> all() const;
  std::vector<GrantPointer> all_of(const GrantOwner& owner) const;
  GrantPointer find_id(std::string_view id) const;

  // Stores a new grant in place of the one that its owner has for this target, if any. Gives it an id if it has none.
  // Durable when this succeeds. `who` is for the audit: the principal, or the operator.
  Task<Result<GrantPointer>> put(Grant grant, std::string who);
  // Removes a grant, then revokes it if the server offers that. Fails with `not_found` if there is no such grant.
  struct Disconnected {
    GrantPointer grant;
    bool revoked = false;
    std::string why_not = {};  // for people
  };
  Task<Result<Disconnected>> disconnect(std::string id, std::string who);

  // The token that a request needs.
  struct Wanted {
    GrantOwner owner;
    GrantTarget target;
    std::optional<std::uint64_t> refused = {};  // version of the grant whose token was just refused
    Secret caller_token = {};                   // the caller's own token, if the grant is obtained with it
    bool ahead = false;                         // the token was not refused, but expires soon
    std::string challenge = {};                 // of the refusal
  };
  // Returns a grant whose access token can be used now. If the token is about to expire or was refused, refreshes it
  // first, once for all concurrent callers on any thread. Fails with `unauthenticated` if the owner has to sign in.
  Task<Result<GrantPointer>> usable(Wanted wanted);
  // Like `usable`, without waiting. Returns null if that would wait, or if there is no grant.
  GrantPointer usable_now(const GrantKey& key, const Secret& caller_token = {});
  // Returns the scopes to request if an upstream wants more than the grant has (UPC-10): these, and all that were
  // requested and not granted yet. Calls at once get the same answer, and so the same link. Fails if the grant has
  // these scopes, if its owner has just signed in for them in vain, and after too many widenings.
  Result<auth::oauth::Scopes> widen(const Grant& grant, const auth::oauth::Scopes& wanted);

  // Clients that were registered dynamically, one for each issuer and redirect URI.
  std::optional<auth::oauth::Client> registration(std::string_view issuer, std::string_view redirect_uri) const;
  Task<Result<>> keep(auth::oauth::Client client);
  // Returns whether another client may be registered in place of this one: not if another one is kept already, nor if
  // one was replaced or forgotten within `kRegisterAgain`. The caller then replaces it.
  bool begin_replacing(const auth::oauth::Client& client);
  // Forgets a client that its server no longer knows, so that the next sign-in registers another one. Does nothing if
  // `begin_replacing` would return false.
  Task<> forget_registration(auth::oauth::Client client);

  // Adds a callback. It is called on the control thread after each change that is not a mere refresh. To be called
  // before anything else.
  using OnChange = std::function<void(const GrantChange&)>;
  void on_change(OnChange on_change) { on_change_.push_back(std::move(on_change)); }

 private:
  // Scopes that an upstream demanded and that the grant does not have.
  struct Widening {
    auth::oauth::Scopes asked = {};
    unsigned times = 0;
    Clock::Monotonic until{};
    bool in_vain = false;  // the owner has signed in since, and was not granted them
  };
  // Many threads read grants, and few change any.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<GrantKey, GrantPointer, GrantKeyHash> grants;
    std::unordered_map<GrantKey, Widening, GrantKeyHash> widenings;
  };
  using Answer = std::shared_ptr<Delivery<Result<GrantPointer>>>;
  static constexpr std::size_t kMostFailures = 10'000;
  // A change of a grant. Only one at a time runs for each grant; requests that need the grant wait for it.
  class Flight;

  Shard& shard_of(const GrantKey& key);
  const Shard& shard_of(const GrantKey& key) const;
  // Makes a grant visible. The key must be given if a caller's token is part of it.
  GrantPointer publish(Grant grant);
  GrantPointer publish(const GrantKey& key, Grant grant);
  void remove(const GrantKey& key);
  // Notes that the owner has signed in: ends the question for more scopes if the sign-in asked for them.
  void note_sign_in(const Grant& grant);
  // Removes a grant whose record is gone, and what was obtained by it.
  void end(const GrantPointer& grant);
  // Removes those grants of an owner that were obtained without a person's help. Those that are being obtained are
  // obtained once more.
  void remove_obtained(const GrantOwner& owner);
  // Removes grants that were obtained without a person's help and have expired; all of them if that makes no room.
  void remove_ended();
  // Returns whether one more grant fits; makes room for it if needed.
  bool has_room();
  std::size_t size() const;
  void tell(const GrantPointer& grant, GrantState state);

  // These run on the control thread, except for `renew_soon`, which runs on any.
  void renew(Wanted wanted, Answer answer);
  void renew_soon(const Grant& grant, const Secret& caller_token);
  bool is_usable(const Grant& grant) const;
  Task<> renew(std::shared_ptr<Flight> flight, GrantKey key, GrantPointer grant, Secret caller_token, bool is_refused);
  void note_failure(const GrantKey& key, const Error& error);
  // Notes the outcome of a request for a token, and gives it to those who wait.
  void conclude(const GrantKey& key, Flight& flight, const Result<GrantPointer>& result);
  // For a grant whose tokens are all refused: checks whether its upstream uses another authorization server now.
  Task<> look_for_issuer(std::shared_ptr<Flight> flight, GrantKey key, GrantPointer grant, std::string challenge);
  Task<Result<GrantPointer>> obtain(std::shared_ptr<Flight> flight, GrantKey key, Secret caller_token, bool is_refused);
  Task<Result<GrantPointer>> refresh(GrantPointer grant, bool is_refused);
  Task<Result<GrantPointer>> take_over(GrantPointer grant, Refreshed refreshed, bool is_refused);
  Task<Result<GrantPointer>> give_up(GrantPointer grant, std::string why);
  Task<Result<>> write(Grant& grant, bool rotation_begun);
  bool is_overtaken(const Result<>& written) const;
  Task<> follow_again(std::string id);
  // Returns whether a change of the grant is under way. The record is then read when that change has ended.
  bool waits_for_flight(const GrantKey& key, const std::string& id);
  // Returns whether the first grant replaces the other. If not, the other replaces it. Two processes that stored a
  // first sign-in of the same owner at the same time decide alike.
  static bool is_newer(const Grant& grant, const Grant& other);
  // The record of a grant, as it was read.
  struct StoredGrant {
    std::string id;
    std::uint64_t version = 0;
  };
  // Removes a grant's record that another one replaces, unless somebody has changed it meanwhile. Returns false, and
  // removes nothing, if the other record is gone: then its owner has disconnected it, and this one may be in use.
  Task<bool> remove_replaced(StoredGrant replaced, std::string winner);
  Task<Result<>> follow_client(std::string id);
  // Waits for the outcome of a refresh by another process.
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
  using ClientKey = std::pair<std::string, std::string>;  // issuer and redirect URI
  std::map<ClientKey, auth::oauth::Client> clients_;
  std::map<ClientKey, Clock::Monotonic> forgotten_;  // clients, and when they were replaced or forgotten

  // These members belong to the control thread.
  std::unordered_map<GrantKey, std::weak_ptr<Flight>, GrantKeyHash> flights_;
  struct Failure {
    Clock::Monotonic until;
    Error error;
  };
  std::unordered_map<GrantKey, Failure, GrantKeyHash> failures_;  // recent
  Bell landed_;
  TaskGroup tasks_;
  std::uint64_t last_version_ = 0;
  std::size_t obtained_ = 0;  // since expired grants were last removed
  bool closed_ = false;
};

}  // namespace proteus::gateway
