#include "gateway/routing/caller_lists.hpp"

#include <algorithm>

#include "gateway/callers/credentials.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/routing/translation.hpp"
#include "json/canonical.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {
namespace {

// Adds the size first, so that different parts never form the same key.
void add_part(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

}  // namespace

std::string Asker::key() const {
  std::string key;
  add_part(key, caller.principal);
  add_part(key, session != nullptr ? std::string_view(session->id().value()) : std::string_view());
  add_part(key, request.client_capabilities);
  // Two tokens of one subject may be exchanged for different ones.
  const bool has_tokens = principal_of(caller).rules() != 0 && !authorization.empty();
  add_part(key, has_tokens ? json::hex(json::sha256(credentials_of(authorization).token)) : std::string());
  return key;
}

const std::string& CallerLists::key() {
  if (key_.empty()) key_ = asker_.key() + forwarded_meta(asker_.request, Propagate::all_but_trace_context);
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
