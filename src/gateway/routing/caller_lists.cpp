#include "gateway/routing/caller_lists.hpp"

#include <algorithm>

#include "gateway/routing/translation.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {
namespace {

// With its size in front, so that no two ways to divide a text are the same key.
void add_part(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

}  // namespace

const std::string& CallerLists::key() {
  if (!key_.empty()) return key_;
  add_part(key_, asker_.caller.principal);
  add_part(key_, asker_.session != nullptr ? std::string_view(asker_.session->id().value()) : std::string_view());
  add_part(key_, asker_.request.client_capabilities);
  key_ += forwarded_meta(asker_.request, Propagate::all_but_trace_context);
  return key_;
}

CallerLists::Known CallerLists::find(const ServedUpstream& upstream, catalog::Kind kind) {
  auto entry = std::ranges::find_if(
      entries_, [&](const Entry& each) { return each.instance == upstream.instance && each.kind == kind; });
  if (entry == entries_.end()) {
    auto names = recalls_ ? memory_.find(key(), upstream, kind) : nullptr;
    if (!names) return {};
    recalled_ = true;
    entry = entries_.insert(entries_.end(), {upstream.instance, kind, std::move(names)});
  }
  if (!entry->names) return {.state = Known::State::unreadable, .why = entry->why};
  return {.state = Known::State::read, .names = entry->names.get()};
}

void CallerLists::add(const ServedUpstream& upstream, catalog::Kind kind, RememberedLists::Reading reading,
                      Result<ListedNames::Pointer> names) {
  if (!names) {
    entries_.push_back({upstream.instance, kind, nullptr, names.error().kind()});
    return;
  }
  memory_.put(key(), upstream, kind, reading, *names);
  entries_.push_back({upstream.instance, kind, std::move(*names)});
}

void CallerLists::read_anew() {
  entries_.clear();
  recalls_ = recalled_ = false;
}

}  // namespace proteus::gateway
