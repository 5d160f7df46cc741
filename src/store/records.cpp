#include "store/records.hpp"

#include <fmt/format.h>

namespace proteus::store {
namespace {

// Walks the texts of a write. Calls `Visit` with a description of each text, the text, its limit, and whether it may be
// empty.
enum class Empty : std::uint8_t { refused, allowed };

template <class Visit>
struct Texts {
  Visit visit;

  void operator()(const PutUpstream& put) {
    const auto& record = put.record;
    visit("the name of an upstream", record.name, limits::kName, Empty::refused);
    visit("the id of an upstream", record.id, limits::kName, Empty::allowed);
    visit("the settings of an upstream", record.settings, limits::kText, Empty::allowed);
    visit("the secrets of an upstream", record.secrets, limits::kText, Empty::allowed);
    visit("the hash of a file's entry", record.file_hash, limits::kName, Empty::allowed);
  }
  void operator()(const RemoveUpstream& remove) { name(remove.name); }
  void operator()(const PutSnapshot& put) {
    const auto& record = put.record;
    name(record.upstream);
    visit("the kind of a snapshot", record.kind, limits::kName, Empty::refused);
    visit("a snapshot", record.entries, limits::kEntries, Empty::refused);
    visit("an era", record.era, limits::kName, Empty::allowed);
    visit("a protocol version", record.protocol_version, limits::kName, Empty::allowed);
    visit("what a server says of itself", record.server_facts, limits::kText, Empty::allowed);
    fence(put.fence);
  }
  void operator()(const RemoveSnapshots& remove) { name(remove.upstream); }
  void operator()(const AppendChange& append) {
    visit("the name of an upstream", append.record.upstream, limits::kName, Empty::allowed);
    visit("the kind of a change", append.record.kind, limits::kName, Empty::allowed);
    visit("a change", append.record.change, limits::kChange, Empty::allowed);
  }
  void operator()(const AppendAudit& append) {
    visit("who is audited", append.record.who, limits::kName, Empty::allowed);
    visit("what is audited", append.record.what, limits::kName, Empty::refused);
    visit("the detail of an audit", append.record.detail, limits::kText, Empty::allowed);
  }
  void operator()(const PutSetting& put) {
    visit("the key of a setting", put.setting.key, limits::kName, Empty::refused);
    visit("the value of a setting", put.setting.value, limits::kText, Empty::allowed);
  }
  void operator()(const RemoveSetting& remove) {
    visit("the key of a setting", remove.key, limits::kName, Empty::refused);
  }
  void operator()(const PutPin& put) {
    const auto& record = put.record;
    name(record.upstream);
    visit("the kind of a definition", record.kind, limits::kName, Empty::refused);
    visit("the name of a definition", record.name, limits::kText, Empty::allowed);
    visit("the hash of a definition", record.hash, limits::kName, Empty::refused);
    visit("a definition", record.definition, limits::kChange, Empty::allowed);
    visit("who decides", record.by, limits::kName, Empty::refused);
  }
  void operator()(const PutToolSession& put) {
    const auto& record = put.record;
    session(record.id);
    visit("the user of a tool session", record.user_id, limits::kName, Empty::allowed);
    visit("the secrets of a tool session", record.secrets, limits::kText, Empty::allowed);
    visit("the context of a tool session", record.context, limits::kName, Empty::allowed);
    visit("the catalog of a tool session", record.catalog, limits::kName, Empty::allowed);
    hashes(put.hashes);
  }
  void operator()(const RemoveToolSession& remove) { session(remove.id); }
  void operator()(const TouchToolSession& touch) { session(touch.id); }
  void operator()(const PutSessionTool& put) {
    const auto& record = put.record;
    session(record.session);
    visit("the name of a tool", record.name, limits::kName, Empty::refused);
    visit("the definition of a tool", record.definition, limits::kText, Empty::refused);
    visit("the secrets of a tool", record.secrets, limits::kText, Empty::allowed);
  }
  void operator()(const RemoveSessionTool& remove) {
    session(remove.session);
    visit("the name of a tool", remove.name, limits::kName, Empty::refused);
  }
  void operator()(const PutToken& put) {
    const auto& record = put.record;
    token(record.name);
    visit("what a token may use", record.access, limits::kText, Empty::refused);
    visit("the hashes of a token", record.secrets, limits::kText, Empty::refused);
    hashes(put.hashes);
  }
  void operator()(const RemoveToken& remove) { token(remove.name); }
  void operator()(const TouchToken& touch) { token(touch.name); }
  void operator()(const PutSealed& put) {
    sealed(put.record.kind, put.record.id);
    visit("a sealed record", put.record.text, limits::kText, Empty::refused);
    fence(put.fence);
  }
  void operator()(const RemoveSealed& remove) { sealed(remove.kind, remove.id); }

  void operator()(const Expect& expect) {
    visit("the name of a record", expect.key.name, limits::kText, Empty::refused);
    visit("the name of a record", expect.key.part, limits::kText, Empty::allowed);
  }
  void operator()(const Attend& attend) {
    member(attend.record.name);
    visit("what a process says of itself", attend.record.facts, limits::kText, Empty::allowed);
  }
  void operator()(const Leave& leave) { member(leave.member); }
  void operator()(const TakeLeases& take) { leases(take.owner, take.names); }
  void operator()(const ReleaseLeases& release) { leases(release.owner, release.names); }

 private:
  void sealed(const std::string& kind, const std::string& id) {
    visit("the kind of a sealed record", kind, limits::kName, Empty::refused);
    visit("the id of a sealed record", id, limits::kName, Empty::refused);
  }
  void hashes(const std::vector<std::string>& all) {
    for (const auto& hash : all)
      visit("a hash of a token", hash, limits::kName, Empty::refused);
  }
  void fence(const std::optional<Fence>& given) {
    if (given) lease(given->lease);
  }
  void lease(const std::string& text) { visit("the name of a lease", text, limits::kName, Empty::refused); }
  void member(const std::string& text) { visit("the name of a process", text, limits::kName, Empty::refused); }
  void leases(const std::string& owner, const std::vector<std::string>& names) {
    member(owner);
    for (const auto& one : names)
      lease(one);
  }
  void token(const std::string& text) { visit("the name of a token", text, limits::kName, Empty::refused); }
  void session(const std::string& text) { visit("the id of a tool session", text, limits::kName, Empty::refused); }
  void name(const std::string& text) { visit("the name of an upstream", text, limits::kName, Empty::refused); }
};

template <class Visit>
void for_each_text(const Writes& writes, Visit visit) {
  Texts<Visit> texts{std::move(visit)};
  for (const Write& write : writes)
    std::visit(texts, write);
}

// Returns the name of the record if the write would store one whose secrets could not be opened; otherwise empty.
std::string_view with_lost_secrets(const Write& write) {
  if (const auto* put = std::get_if<PutUpstream>(&write); put != nullptr && !put->record.secrets_fault.empty())
    return put->record.name;
  if (const auto* put = std::get_if<PutToolSession>(&write); put != nullptr && !put->record.secrets_fault.empty())
    return put->record.id;
  if (const auto* put = std::get_if<PutSessionTool>(&write); put != nullptr && !put->record.secrets_fault.empty())
    return put->record.name;
  if (const auto* put = std::get_if<PutToken>(&write); put != nullptr && !put->record.secrets_fault.empty())
    return put->record.name;
  if (const auto* put = std::get_if<PutSealed>(&write); put != nullptr && !put->record.fault.empty())
    return put->record.id;
  return {};
}

}  // namespace

Result<> check(const Writes& writes) {
  if (writes.size() > limits::kWrites)
    return std::unexpected(proteus::errors::too_large("a unit of writes", limits::kWrites));
  for (const Write& write : writes) {
    const auto* const take = std::get_if<TakeLeases>(&write);
    if (take != nullptr && take->names.size() > limits::kLeases)
      return std::unexpected(proteus::errors::too_large("a number of leases", limits::kLeases));
  }
  std::optional<Error> fault;
  for_each_text(writes, [&fault](std::string_view what, const std::string& text, std::size_t limit, Empty empty) {
    if (fault) return;
    if (text.size() > limit) fault = proteus::errors::too_large(what, limit);
    if (text.empty() && empty == Empty::refused) fault = proteus::errors::invalid(fmt::format("{} is empty", what));
  });
  for (const Write& write : writes) {
    const std::string_view lost = with_lost_secrets(write);
    if (lost.empty()) continue;
    // The write would replace secrets that the right pepper can still open.
    fault = proteus::errors::invalid(fmt::format("the secrets of {} could not be read, and would be lost", lost));
  }
  if (fault) return std::unexpected(std::move(*fault));
  return {};
}

std::size_t bytes_of(const Writes& writes) {
  std::size_t bytes = 0;
  for_each_text(writes,
                [&bytes](std::string_view, const std::string& text, std::size_t, Empty) { bytes += text.size(); });
  return bytes;
}

}  // namespace proteus::store
