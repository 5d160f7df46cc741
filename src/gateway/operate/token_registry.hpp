#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/published.hpp"
#include "base/secrets/secret.hpp"
#include "base/tasks/async_mutex.hpp"
#include "base/tasks/task_group.hpp"
#include "gateway/callers/issued_tokens.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/token_keys.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// A token that was made at runtime. Immutable. A default-constructed time means none.
struct RuntimeToken {
  TokenKeys keys;  // without `expires`
  store::Time created_at{};
  store::Time expires_at{};
  store::Time previous_until{};                // until when the previous secret works
  store::Time used_before{};                   // last use known from the store
  std::shared_ptr<const Principal> principal;  // null if the token is not served
  std::shared_ptr<const Principal> previous;   // principal of the previous secret; null if there is none
  std::shared_ptr<LastUse> use;
  std::string fault;                 // why the token is not served
  bool is_limited_as_stored = true;  // false: `keys` could not be read completely, and the token gets no new secret
  std::uint64_t version = 0;         // of its record in the store

  const std::string& name() const { return keys.name; }
  // The key under which everything about its holder is kept. A later token with the same name has another key.
  std::string key() const;
};
using RuntimeTokenPointer = std::shared_ptr<const RuntimeToken>;
using RuntimeTokens = std::map<std::string, RuntimeTokenPointer, std::less<>>;

// The tokens that operators make while the gateway runs. A change that was acknowledged is in the store, written
// together with its audit entry. A change that fails has no effect. Revoking never fails. Only hashes of secrets are
// kept.
//
// Members may be called on any worker's thread unless stated otherwise. Changes run one after the other. `stop` must
// complete before the destructor runs.
class TokenRegistry {
 public:
  static constexpr std::size_t kMaxTokens = 10'000;
  static constexpr std::chrono::hours kLongestOverlap{24 * 30};

  // All references must outlive this object.
  struct Dependencies {
    boost::asio::io_context& control;  // of the gateway's first worker
    Gateway& gateway;
    store::Store& store;
    const Clock& clock;
    bool shared = false;  // whether other processes share the store, so that their changes must not be overwritten
  };
  explicit TokenRegistry(Dependencies dependencies);

  // Reads the tokens from the store, at start-up before anything is served. Records that cannot be read stay in the
  // store and are not served.
  Task<Result<>> load();
  // Starts to end what was opened with expired tokens, including those of the configuration, and to write to the store
  // when each token was last used. Called on the control thread.
  void start();
  Task<> stop();

  // In a cluster, applies what other processes have done to the token: created, rotated or revoked it.
  Task<Result<>> follow(std::string name);
  // Like `follow`, for all tokens.
  Task<Result<>> follow_all();
  // Sets whether revocations by other processes may have been missed for too long; then no token is accepted. Called on
  // the control thread.
  void set_blind(bool blind);

  struct Issued {
    RuntimeTokenPointer token;
    Secret secret;  // not kept anywhere
  };
  // `who` is the name of the admin key, for the audit. The data of the error list the faults (json/fault_error.hpp).
  Task<Result<Issued>> create(boost::json::value given, std::string who);
  // Returns the principal that `create` would make, without changing anything.
  Result<std::shared_ptr<const Principal>> imagine(const boost::json::value& given) const;
  // Gives the token a new secret. The old one works for the overlap; then the streams that were opened with it end.
  Task<Result<Issued>> rotate(std::string name, boost::json::value given, std::string who);
  struct Revoked {
    RuntimeTokenPointer token;
    // False if the store did not take the removal. The token is refused all the same, and the write is retried until it
    // succeeds; a process that starts before that serves the token again.
    bool is_durable = true;
  };
  // Also ends everything that its holders have open.
  Task<Result<Revoked>> revoke(std::string name, std::string who);

  std::shared_ptr<const RuntimeTokens> all() const { return all_.get(); }
  // Returns null if there is no such token.
  RuntimeTokenPointer find(std::string_view name) const;
  // Returns the time to the minute; a default-constructed time if the token was never used.
  store::Time last_used(const RuntimeToken& token) const;

  // Ends what was opened with expired tokens, and writes to the store when tokens were last used. A timer does this
  // periodically; tests that move the clock call it. May be called on any worker's thread.
  Task<> look_over();

 private:
  Task<Result<Issued>> do_create(boost::json::value given, std::string who);
  Task<Result<Issued>> do_rotate(std::string name, boost::json::value given, std::string who);
  Task<Result<Revoked>> do_revoke(std::string name, std::string who);
  Task<Result<>> do_follow(std::string name);
  void take_over(RuntimeTokenPointer token);
  void forget(const RuntimeTokenPointer& token);
  // Adds the condition that nobody else has changed the token meanwhile.
  void expect(store::Writes& writes, const std::string& name, std::uint64_t version) const;
  store::PutToken write_of(const RuntimeToken& token) const;
  Task<> do_look_over();
  Task<> look_over_now_and_then();
  // The removal of a token that the store did not take yet. It does not apply to a later token with the same name.
  struct Removal {
    store::Time created_at;
    store::Writes writes;
  };
  Task<Result<>> write_removal(std::string name, Removal removal);
  Task<> write_removals();
  Task<> write_uses();

  RuntimeToken read(const store::TokenRecord& record);
  std::shared_ptr<const Principal> holder(const RuntimeToken& token, const json::Digest& digest, store::Time until);
  store::TokenRecord to_record(const RuntimeToken& token) const;
  Result<TokenKeys> read_keys(const boost::json::value& given, store::Time& expires_at) const;
  // Serves the token in place of the one that had its name, if any.
  void put(RuntimeTokenPointer token);
  void publish(RuntimeTokens tokens);
  store::Write audit(std::string who, std::string what, boost::json::object detail) const;

  Dependencies dependencies_;
  Published<RuntimeTokens> all_;

  // The following members belong to the control thread.
  AsyncMutex one_at_a_time_;
  PermissionsTable permissions_;  // shared by tokens that may use the same
  TaskGroup background_;
  boost::asio::steady_timer timer_;
  std::map<std::string, Removal> removals_;  // removals that the store did not take yet, by name
  Clock::Monotonic written_until_{};
  store::Time last_created_{};
  bool blind_ = false;
  bool stopped_ = false;
};

}  // namespace proteus::gateway
