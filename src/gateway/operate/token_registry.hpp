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
#include "base/secret.hpp"
#include "base/task_group.hpp"
#include "gateway/callers/issued_tokens.hpp"
#include "gateway/core/async_mutex.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/token_keys.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// A token that was made at runtime. Immutable. The beginning of time stands for none.
struct RuntimeToken {
  TokenKeys keys;  // without when it expires
  store::Time created_at{};
  store::Time expires_at{};
  store::Time previous_until{};                // how long the secret before the last rotation works
  store::Time used_before{};                   // last, as an earlier process knew
  std::shared_ptr<const Principal> principal;  // null where it is not served
  std::shared_ptr<const Principal> previous;   // whom the secret before the last rotation makes its holder; or null
  std::shared_ptr<LastUse> use;
  std::string fault;                 // why it is not served
  bool is_limited_as_stored = true;  // else `keys` are not its own, and it gets no other secret
  std::uint64_t version = 0;         // of its record in the store

  const std::string& name() const { return keys.name; }
  // What is kept for its holder is kept under this: a token that has the name later does not find it.
  std::string key() const;
};
using RuntimeTokenPointer = std::shared_ptr<const RuntimeToken>;
using RuntimeTokens = std::map<std::string, RuntimeTokenPointer, std::less<>>;

// The tokens that operators make while the gateway runs. What was acknowledged is in the store, and audited there in
// the same write. A change that fails has no effect; revoking does not fail. Only hashes are kept.
//
// Functions may be called on any worker's thread; changes happen one after the other. `stop` must have ended before it
// is destroyed.
class TokenRegistry {
 public:
  static constexpr std::size_t kMaxTokens = 10'000;
  static constexpr std::chrono::hours kLongestOverlap{24 * 30};

  // Everything outlives it.
  struct Dependencies {
    boost::asio::io_context& control;  // of the gateway's first worker
    Gateway& gateway;
    store::Store& store;
    const Clock& clock;
    bool shared = false;  // with other processes: what they changed is not overwritten
  };
  explicit TokenRegistry(Dependencies dependencies);

  // At the start, before anything is asked: what is in the store. What cannot be read stays there, and is not served.
  Task<Result<>> load();
  // On the control thread: from now on tokens expire by themselves, those of the configuration too, and the store hears
  // when each was last used.
  void start();
  Task<> stop();

  // Where other processes share the store: they made, rotated or revoked it.
  Task<Result<>> follow(std::string name);
  // The same for all.
  Task<Result<>> follow_all();
  // On the control thread: whether revocations may have been missed for too long. Then none is served.
  void set_blind(bool blind);

  struct Issued {
    RuntimeTokenPointer token;
    Secret secret;  // not kept anywhere
  };
  // `who` is the name of the admin key, for the audit. Faults are in the data of the error (json/fault_error.hpp).
  Task<Result<Issued>> create(boost::json::value given, std::string who);
  // Whom that would make its holder; nothing is changed.
  Result<std::shared_ptr<const Principal>> imagine(const boost::json::value& given) const;
  // A new secret for the same token; the old one works for the overlap. Streams that were opened with it end then.
  Task<Result<Issued>> rotate(std::string name, boost::json::value given, std::string who);
  struct Revoked {
    RuntimeTokenPointer token;
    // False where the store did not take it. The token is withdrawn all the same, and the store is asked again until it
    // does; a process that starts before that serves it again.
    bool is_durable = true;
  };
  // Ends what its holders have open.
  Task<Result<Revoked>> revoke(std::string name, std::string who);

  std::shared_ptr<const RuntimeTokens> all() const { return all_.get(); }
  // Null where there is none.
  RuntimeTokenPointer find(std::string_view name) const;
  // To the minute; the beginning of time where it never was.
  store::Time last_used(const RuntimeToken& token) const;

  // On any worker's thread: ends what has expired, and writes when tokens were last used. A timer's business; for tests
  // that move the time by hand.
  Task<> look_over();

 private:
  Task<Result<Issued>> do_create(boost::json::value given, std::string who);
  Task<Result<Issued>> do_rotate(std::string name, boost::json::value given, std::string who);
  Task<Result<Revoked>> do_revoke(std::string name, std::string who);
  Task<Result<>> do_follow(std::string name);
  void take_over(RuntimeTokenPointer token);
  void forget(const RuntimeTokenPointer& token);
  // That nobody else has changed it meanwhile.
  void expect(store::Writes& writes, const std::string& name, std::uint64_t version) const;
  store::PutToken write_of(const RuntimeToken& token) const;
  Task<> do_look_over();
  Task<> look_over_now_and_then();
  // Of a token that was revoked, written later, and not of another one that has its name by then.
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
  // Serves it in place of one of its name.
  void put(RuntimeTokenPointer token);
  void publish(RuntimeTokens tokens);
  store::Write audit(std::string who, std::string what, boost::json::object detail) const;

  Dependencies dependencies_;
  Published<RuntimeTokens> all_;

  // Of the control thread.
  AsyncMutex one_at_a_time_;
  PermissionsTable permissions_;  // tokens that may use the same share them
  TaskGroup background_;
  boost::asio::steady_timer timer_;
  std::map<std::string, Removal> removals_;  // that the store did not take yet, by name
  Clock::Monotonic written_until_{};
  store::Time last_created_{};
  bool blind_ = false;
  bool stopped_ = false;
};

}  // namespace proteus::gateway
