#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/published.hpp"
#include "base/settings/environment.hpp"
#include "base/tasks/async_mutex.hpp"
#include "base/tasks/waiting.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/egress.hpp"
#include "gateway/operate/registration_rules.hpp"
#include "providers/upstream_entry.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

enum class UpstreamOrigin : std::uint8_t {
  file,           // as the configuration file defines it
  file_override,  // of the file, with an override from the API
  runtime,        // registered over the API
};
std::string_view to_string(UpstreamOrigin origin);

// An upstream that should be served. Immutable.
struct RegisteredUpstream {
  std::string id;
  store::Time created_at{};
  store::Time updated_at{};
  UpstreamOrigin origin = UpstreamOrigin::file;
  providers::UpstreamEntry entry;  // `given` has the keys of the file, of the override or of the registration
  std::string fault;               // why it is not served; empty if it is
  bool secrets_lost = false;       // the store can no longer open its secrets
  std::uint64_t version = 0;       // of its record in the store; 0 if there is none
  std::string hash = {};           // of `entry`, if that is the file's

  const std::string& name() const { return entry.settings.name; }
  // Changes with each change of the upstream, and is the same at all processes with the same store and file.
  std::string revision() const;
};
using RegisteredPointer = std::shared_ptr<const RegisteredUpstream>;
using RegisteredUpstreams = std::vector<RegisteredPointer>;

// The upstreams that should be served: those of the configuration file in their order, possibly overridden, then those
// registered at runtime in the order of registration. A change that was acknowledged is in the store, written together
// with its audit entry, and the gateway serves it. A change that fails has no effect.
//
// An upstream that cannot be made, for example because its token is not in the environment, stays in the list with the
// reason; the others are served.
//
// Members may be called on any worker's thread. Changes run one after the other.
class UpstreamRegistry {
 public:
  static constexpr std::size_t kMaxUpstreams = 10'000;

  // All references must outlive this object.
  struct Dependencies {
    boost::asio::io_context& control;  // of the gateway's first worker
    Gateway& gateway;
    store::Store& store;
    const Clock& clock;
    Environment environment;
    Egress& egress;
    bool shared = false;  // whether other processes share the store, so that their changes must not be overwritten
  };
  explicit UpstreamRegistry(Dependencies dependencies);

  using Entries = std::vector<providers::UpstreamEntry>;
  // Sets the upstreams of the file, the base of upstreams that are registered at runtime, and what those may name.
  // Called at start-up and at each reload. Drops overrides whose entry in the file has changed; in a cluster only
  // ignores them. If a name is in the file and was also registered at runtime, the file's upstream is served; the other
  // one waits in the store until the file no longer has the name. If the store cannot be read at a reload, fails, but
  // applies the file nevertheless, with the changes over the API that this process knows of.
  Task<Result<>> load(Entries file, providers::UpstreamSettings defaults, RegistrationSettings registration);

  // In a cluster, applies what other processes have changed.
  Task<Result<>> follow();

  // `who` is the name of the admin key, for the audit. The data of the error list the faults (json/fault_error.hpp).
  Task<Result<RegisteredPointer>> create(boost::json::value given, std::string who);
  // Patches an upstream like providers::patch_upstream. For an upstream of the file the keys form an override on top of
  // the file's; removing the last key removes the override. Fails if an upstream that was registered at runtime waits
  // under the same name, because the store has room for only one of them. `expected` returns whether the upstream is
  // still what the caller has seen; if it is empty, the patch applies to any state.
  using Expected = std::function<bool(const RegisteredUpstream&)>;
  Task<Result<RegisteredPointer>> patch(std::string name, boost::json::value patch, std::string who,
                                        Expected expected = {});
  // Returns the settings that the patch would result in, without changing anything.
  Task<Result<providers::UpstreamSettings>> imagine(std::string name, boost::json::value patch);
  // Returns the removed upstream. Fails for an upstream of the file.
  Task<Result<RegisteredPointer>> remove(std::string name, std::string who);

  std::shared_ptr<const RegisteredUpstreams> all() const { return all_.get(); }
  // Returns null if there is no such upstream.
  RegisteredPointer find(std::string_view name) const;

 private:
  Task<Result<>> do_load(Entries file, providers::UpstreamSettings defaults, RegistrationSettings registration);
  Task<Result<>> do_follow();
  // Returns the upstreams that result from the file and the records. Calls `drop` for each override that no longer
  // holds.
  using Drop = std::function<void(const store::UpstreamRecord& record, std::string_view why)>;
  struct Merged {
    RegisteredUpstreams upstreams;
    std::set<std::string, std::less<>> waiting;
  };
  Merged merge(const Entries& file, const providers::UpstreamSettings& defaults,
               const std::vector<store::UpstreamRecord>& records, const Drop& drop) const;
  Task<Result<RegisteredPointer>> do_create(boost::json::value given, std::string who);
  Task<Result<providers::UpstreamSettings>> do_imagine(std::string name, boost::json::value patch);
  Result<providers::UpstreamEntry> patched(const RegisteredUpstream& before, const boost::json::value& patch) const;
  Task<Result<RegisteredPointer>> do_patch(std::string name, boost::json::value patch, std::string who,
                                           Expected expected);
  Task<Result<RegisteredPointer>> do_remove(std::string name, std::string who);

  RegisteredUpstream from_file(const providers::UpstreamEntry& entry) const;
  RegisteredUpstream from_record(const store::UpstreamRecord& record, const providers::UpstreamSettings& base) const;
  store::UpstreamRecord to_record(const RegisteredUpstream& registered) const;
  // Fails if the upstream must not be served or cannot be made.
  Result<> check(const RegisteredUpstream& registered) const;
  RegisteredPointer checked(RegisteredUpstream registered) const;
  Task<Result<>> apply(RegisteredUpstreams next, Gateway::ChangedBy by = Gateway::ChangedBy::this_process);
  // Writes, then applies. If `next` cannot be applied, writes `undo`. `changed`, an element of `next`, gets its new
  // version.
  Task<Result<>> change(RegisteredUpstreams next, RegisteredPointer& changed, store::Writes writes, store::Writes undo);
  // Notes in `records_` what the store has of an upstream since a change.
  void remember(const RegisteredUpstream& changed, bool is_stored);
  // Adds the condition that nobody else has changed the upstream meanwhile.
  void expect(store::Writes& writes, const std::string& name, std::uint64_t version) const;
  store::Write audit(std::string who, std::string what, boost::json::object detail) const;

  Dependencies dependencies_;
  Published<RegisteredUpstreams> all_;

  // The following members belong to the control thread.
  AsyncMutex one_at_a_time_;
  Entries file_order_;
  std::map<std::string, providers::UpstreamEntry, std::less<>> file_;
  std::set<std::string, std::less<>> waiting_;  // names that are in the file and were also registered at runtime
  providers::UpstreamSettings defaults_;
  RegistrationRules rules_;
  // What the store has, as far as this process knows; nothing before the first `load`.
  std::optional<std::vector<store::UpstreamRecord>> records_;
};

}  // namespace proteus::gateway
