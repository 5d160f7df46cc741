#include "store/versions.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "store/records.hpp"

namespace proteus::store {
namespace {

// The names as they are stored. A released name is never changed.
constexpr std::array kKinds = {
    std::pair{RecordKind::upstream, std::string_view("upstream")},
    std::pair{RecordKind::snapshot, std::string_view("snapshot")},
    std::pair{RecordKind::setting, std::string_view("setting")},
    std::pair{RecordKind::pins, std::string_view("pins")},
    std::pair{RecordKind::tool_session, std::string_view("tool session")},
    std::pair{RecordKind::session_tool, std::string_view("session tool")},
    std::pair{RecordKind::token, std::string_view("token")},
    std::pair{RecordKind::sealed, std::string_view("sealed")},
    std::pair{RecordKind::change, std::string_view("change")},
};

using Key = std::optional<RecordKey>;

struct KeyOf {
  Key operator()(const PutUpstream& put) const { return RecordKey{RecordKind::upstream, put.record.name, {}}; }
  Key operator()(const RemoveUpstream& remove) const { return RecordKey{RecordKind::upstream, remove.name, {}}; }
  Key operator()(const PutSnapshot& put) const {
    return RecordKey{RecordKind::snapshot, put.record.upstream, put.record.kind};
  }
  Key operator()(const RemoveSnapshots& remove) const { return RecordKey{RecordKind::snapshot, remove.upstream, {}}; }
  Key operator()(const AppendChange& append) const { return RecordKey{RecordKind::change, append.record.upstream, {}}; }
  Key operator()(const PutSetting& put) const { return RecordKey{RecordKind::setting, put.setting.key, {}}; }
  Key operator()(const RemoveSetting& remove) const { return RecordKey{RecordKind::setting, remove.key, {}}; }
  Key operator()(const PutPin& put) const { return RecordKey{RecordKind::pins, put.record.upstream, {}}; }
  Key operator()(const PutToolSession& put) const { return RecordKey{RecordKind::tool_session, put.record.id, {}}; }
  Key operator()(const RemoveToolSession& remove) const { return RecordKey{RecordKind::tool_session, remove.id, {}}; }
  Key operator()(const PutSessionTool& put) const {
    return RecordKey{RecordKind::session_tool, put.record.session, put.record.name};
  }
  Key operator()(const RemoveSessionTool& remove) const {
    return RecordKey{RecordKind::session_tool, remove.session, remove.name};
  }
  Key operator()(const PutToken& put) const { return RecordKey{RecordKind::token, put.record.name, {}}; }
  Key operator()(const RemoveToken& remove) const { return RecordKey{RecordKind::token, remove.name, {}}; }
  Key operator()(const PutSealed& put) const { return RecordKey{RecordKind::sealed, put.record.kind, put.record.id}; }
  Key operator()(const RemoveSealed& remove) const { return RecordKey{RecordKind::sealed, remove.kind, remove.id}; }

  // The feed lists none of these: they concern a single process, or every process finds them out on its own.
  Key operator()(const AppendAudit& /*unused*/) const { return std::nullopt; }
  Key operator()(const TouchToolSession& /*unused*/) const { return std::nullopt; }
  Key operator()(const TouchToken& /*unused*/) const { return std::nullopt; }
  Key operator()(const Expect& /*unused*/) const { return std::nullopt; }
  Key operator()(const Attend& /*unused*/) const { return std::nullopt; }
  Key operator()(const Leave& /*unused*/) const { return std::nullopt; }
  Key operator()(const TakeLeases& /*unused*/) const { return std::nullopt; }
  Key operator()(const ReleaseLeases& /*unused*/) const { return std::nullopt; }
};

}  // namespace

std::string_view to_string(RecordKind kind) {
  const auto* const found = std::ranges::find(kKinds, kind, &decltype(kKinds)::value_type::first);
  return found == kKinds.end() ? std::string_view("unknown") : found->second;
}

std::optional<RecordKind> parse_record_kind(std::string_view text) {
  const auto* const found = std::ranges::find(kKinds, text, &decltype(kKinds)::value_type::second);
  if (found == kKinds.end()) return std::nullopt;
  return found->first;
}

std::optional<RecordKey> key_of(const Write& write) { return std::visit(KeyOf{}, write); }

std::size_t count_in_feed(const Writes& writes) {
  return static_cast<std::size_t>(
      std::ranges::count_if(writes, [](const Write& write) { return key_of(write).has_value(); }));
}

}  // namespace proteus::store
