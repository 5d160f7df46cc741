// Converts upstreams of the registry from entries of the file, and from and to records of the store.
#include <algorithm>

#include <fmt/format.h>

#include "gateway/operate/upstream_hash.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "json/canonical.hpp"
#include "json/fault_error.hpp"
#include "json/text.hpp"

namespace proteus::gateway {

using providers::UpstreamEntry;
using providers::UpstreamSettings;

namespace {

// Returns the same id for the same name, whenever the file is read.
std::string id_of(const std::string& name) {
  return json::hex(json::sha256("upstream of the file: " + name)).substr(0, 32);
}

boost::json::object object_of(const std::string& text) {
  if (text.empty()) return {};
  auto parsed = json::parse(text);
  if (!parsed || !parsed->is_object()) return {};
  return std::move(parsed->get_object());
}

}  // namespace

std::string hash_of(const UpstreamEntry& entry) {
  return json::hex(json::sha256(json::canonical(providers::write_upstream(entry))));
}

std::string RegisteredUpstream::revision() const {
  // The store gives no version twice, so that of a record says which settings apply.
  if (origin != UpstreamOrigin::file) return fmt::format("{}", version);
  return fmt::format("{}-{}", version, hash);
}

RegisteredUpstream UpstreamRegistry::from_file(const UpstreamEntry& entry) const {
  const auto now = store::to_time(dependencies_.clock.wall());
  RegisteredUpstream registered{.id = id_of(entry.settings.name),
                                .created_at = now,
                                .updated_at = now,
                                .origin = UpstreamOrigin::file,
                                .entry = entry,
                                .fault = {}};
  if (const auto before = find(entry.settings.name); before && before->origin != UpstreamOrigin::runtime) {
    registered.created_at = before->created_at;
    if (before->entry == entry) {
      registered.updated_at = before->updated_at;
      registered.hash = before->hash;
    }
  }
  if (registered.hash.empty()) registered.hash = hash_of(entry);
  return registered;
}

RegisteredUpstream UpstreamRegistry::from_record(const store::UpstreamRecord& record,
                                                 const UpstreamSettings& base) const {
  const bool runtime = record.origin == store::Origin::runtime;
  RegisteredUpstream registered{.id = record.id,
                                .created_at = record.created_at,
                                .updated_at = record.updated_at,
                                .origin = runtime ? UpstreamOrigin::runtime : UpstreamOrigin::file_override,
                                .entry = {.settings = base, .given = {}},
                                .fault = record.secrets_fault,
                                .secrets_lost = !record.secrets_fault.empty(),
                                .version = record.stored.version};
  registered.entry.settings.name = record.name;
  boost::json::object settings = object_of(record.settings);
  if (registered.secrets_lost) settings.erase("authentication");
  auto restored = providers::restore_upstream(settings, object_of(record.secrets), base);
  if (restored) {
    registered.entry = std::move(*restored);
  } else {
    registered.fault = errors::faults("what is stored of it", restored.error()).message();
  }
  return registered;
}

store::UpstreamRecord UpstreamRegistry::to_record(const RegisteredUpstream& registered) const {
  const auto secrets = providers::write_upstream_secrets(registered.entry);
  const auto in_file = file_.find(registered.name());
  const bool runtime = registered.origin == UpstreamOrigin::runtime;
  return {.name = registered.name(),
          .id = registered.id,
          .created_at = registered.created_at,
          .updated_at = registered.updated_at,
          .settings = boost::json::serialize(providers::write_upstream(registered.entry)),
          .secrets = secrets.empty() ? std::string() : boost::json::serialize(secrets),
          .origin = runtime ? store::Origin::runtime : store::Origin::file_override,
          .file_hash = runtime || in_file == file_.end() ? std::string() : hash_of(in_file->second),
          .secrets_fault = {}};
}

void UpstreamRegistry::remember(const RegisteredUpstream& changed, bool is_stored) {
  if (!records_) return;
  const auto known = std::ranges::find(*records_, changed.name(), &store::UpstreamRecord::name);
  if (!is_stored) {
    if (known != records_->end()) records_->erase(known);
    return;
  }
  auto record = to_record(changed);
  record.stored.version = changed.version;
  if (known != records_->end()) {
    *known = std::move(record);
  } else {
    records_->push_back(std::move(record));
  }
}

}  // namespace proteus::gateway
