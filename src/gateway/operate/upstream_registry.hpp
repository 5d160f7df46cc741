#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/environment.hpp"
#include "base/published.hpp"
#include "base/waiting.hpp"
#include "gateway/core/async_mutex.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/egress.hpp"
#include "gateway/operate/registration_rules.hpp"
#include "providers/upstream_entry.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

enum class UpstreamOrigin : std::uint8_t {
  file,           // as the configuration file has it
  file_override,  // of the file, and changed over the API
  runtime,        // registered over the API
};
std::string_view to_string(UpstreamOrigin origin);

// An upstream there is to be. Immutable.
struct RegisteredUpstream {
  std::string id;
  store::Time created_at{};
  store::Time updated_at{};
  UpstreamOrigin origin = UpstreamOrigin::file;
  providers::UpstreamEntry entry;  // given: the keys of the file, of the override, or of the registration
  std::string fault;               // why it is not served; empty where it is
  bool secrets_lost = false;       // the store cannot open them any more
  std::uint64_t version = 0;       // of its record in the store; 0 where it has none

  const std::string& name() const { return entry.settings.name; }
};
using RegisteredPointer = std::shared_ptr<const RegisteredUpstream>;
using RegisteredUpstreams = std::vector<RegisteredPointer>;

// The upstreams there are to be: those of the configuration file in their order, each perhaps overridden, then those
// registered at runtime in the order of their registration. What was acknowledged is in the store, and audited there in
// the same write; the gateway serves it from then on. A change that fails has no effect.
//
// An upstream that cannot be made, such as one whose token is not in the environment, is left out and says why; the
// others are served.
//
// Functions may be called on any worker's thread; changes happen one after the other.
class UpstreamRegistry {
 public:
  static constexpr std::size_t kMaxUpstreams = 10'000;

  // Everything outlives it.
  struct Dependencies {
    boost::asio::io_context& control;  // of the gateway's first worker
    Gateway& gateway;
    store::Store& store;
    const Clock& clock;
    Environment environment;
    Egress& egress;
    bool shared = false;  // with other processes: what they changed is not overwritten
  };
  explicit UpstreamRegistry(Dependencies dependencies);

  using Entries = std::vector<providers::UpstreamEntry>;
  // At the start and at each reload: what the file has now, the base of those registered at runtime, and what those may
  // name. An override of what is no longer the same in the file is dropped. Where a name is in the file and was
  // registered at runtime, too, the file's is served; the other waits in the store until the file no longer has it.
  Task<Result<>> load(Entries file, providers::UpstreamSettings defaults, RegistrationSettings registration);

  // Where other processes share the store: they registered, changed or removed some.
  Task<Result<>> follow();

  // `who` is the name of the admin key, for the audit. Faults are in the data of the error (json/fault_error.hpp).
  Task<Result<RegisteredPointer>> create(boost::json::value given, std::string who);
  // As providers::patch_upstream. For an upstream of the file the keys are an override, on top of the file's; with its
  // last key taken away there is none any more. Refused where one that was registered waits under that name: the store
  // has room for one of them.
  // `expected` says whether it is still what the caller has looked at; without it, whatever it is now is changed.
  using Expected = std::function<bool(const RegisteredUpstream&)>;
  Task<Result<RegisteredPointer>> patch(std::string name, boost::json::value patch, std::string who,
                                        Expected expected = {});
  // What that would make of the settings; nothing is changed.
  Task<Result<providers::UpstreamSettings>> imagine(std::string name, boost::json::value patch);
  // What there was. One of the file is not removed.
  Task<Result<RegisteredPointer>> remove(std::string name, std::string who);

  std::shared_ptr<const RegisteredUpstreams> all() const { return all_.get(); }
  // Null where there is none.
  RegisteredPointer find(std::string_view name) const;

 private:
  Task<Result<>> do_load(Entries file, providers::UpstreamSettings defaults, RegistrationSettings registration);
  Task<Result<>> do_follow();
  // What there is to be, of the file and of the records; `drop` is told of overrides that no longer hold.
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
  // Whether it may be served, and can be made.
  Result<> check(const RegisteredUpstream& registered) const;
  RegisteredPointer checked(RegisteredUpstream registered) const;
  Task<Result<>> apply(RegisteredUpstreams next, Gateway::ChangedBy by = Gateway::ChangedBy::this_process);
  // Writes, then applies; where that cannot be, writes what undoes it. `changed`, one of those, gets its version.
  Task<Result<>> change(RegisteredUpstreams next, RegisteredPointer& changed, store::Writes writes, store::Writes undo);
  // That nobody else has changed it meanwhile.
  void expect(store::Writes& writes, const std::string& name, std::uint64_t version) const;
  store::Write audit(std::string who, std::string what, boost::json::object detail) const;

  Dependencies dependencies_;
  Published<RegisteredUpstreams> all_;

  // Of the control thread.
  AsyncMutex one_at_a_time_;
  Entries file_order_;
  std::map<std::string, providers::UpstreamEntry, std::less<>> file_;
  std::set<std::string, std::less<>> waiting_;  // registered at runtime, and of the file, too
  providers::UpstreamSettings defaults_;
  RegistrationRules rules_;
};

}  // namespace proteus::gateway
