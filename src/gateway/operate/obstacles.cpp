#include "gateway/operate/obstacles.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "catalog/contexts/contexts.hpp"
#include "catalog/contexts/entry_patterns.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

bool has_own_name(Kind kind) { return kind == Kind::tool || kind == Kind::prompt; }

bool speaks_of(const providers::ToolSettings& shape, std::string_view own) {
  return std::ranges::any_of(shape.match, [&](const auto& pattern) { return catalog::fits(pattern, own); });
}

// Returns the upstream's own name of the entry, as far as the wanted name reveals it.
std::string_view own_name(const catalog::NameRules& rules, const Wanted& wanted) {
  const bool prefixed = has_own_name(wanted.kind) && wanted.name.starts_with(rules.prefix);
  return prefixed ? wanted.name.substr(rules.prefix.size()) : wanted.name;
}

// The checks between a caller and an entry of one upstream that is served.
class Passage {
 public:
  Passage(const Viewpoint& at, const ServedUpstream& served, const Wanted& wanted)
      : at_(at),
        served_(served),
        wanted_(wanted),
        own_(own_name(served->rules(), wanted)),
        snapshot_(at.view->state().find(served->name())) {}

  bool may_have_it() const {
    return catalog::may_show(wanted_.kind, wanted_.name, served_->rules()) || listed() != nullptr;
  }

  Finding look() const {
    if (!at_.view->access().allows(served_->name()))
      return not_seen(Check::denied, "the caller may not use this upstream");
    if (served_->is_direct()) return live();
    const catalog::Definition* const definition = listed();
    return definition != nullptr ? in_catalog(*definition) : not_in_catalog();
  }

 private:
  Finding not_seen(Check check, std::string detail) const {
    return {served_->settings().name, Visibility::not_seen, check, std::move(detail)};
  }

  const catalog::Definition* listed() const {
    return snapshot_ ? snapshot_->list(wanted_.kind).find(wanted_.name) : nullptr;
  }

  bool is_ratified(std::string_view own) const {
    return !served_->pins() || served_->pins()->admits(wanted_.kind, own);
  }

  Finding live() const {
    const catalog::Names names{wanted_.name, own_, served_->rules().prefix};
    const auto& entries = at_.view->access().entries();
    if (entries && !entries->admits(wanted_.kind, names)) return denied();
    if (excludes(names)) return excluded();
    if (!is_ratified(own_)) return unratified();
    return {served_->settings().name, Visibility::upstream_knows, Check::listed, "listed live, and not asked"};
  }

  bool excludes(const catalog::Names& names) const {
    const auto& context = at_.context_view;
    return context && context->lens && !context->lens->admits(wanted_.kind, names);
  }
  Finding denied() const { return not_seen(Check::denied, "the caller's rules do not allow it"); }
  Finding excluded() const {
    return not_seen(Check::excluded, fmt::format("the context {} leaves it out", at_.caller.context));
  }
  Finding unratified() const { return not_seen(Check::unratified, "nobody has ratified it"); }

  Finding in_catalog(const catalog::Definition& definition) const {
    const catalog::Names names{definition.shown, definition.own, served_->rules().prefix};
    const auto& access = at_.view->access();
    if (const auto& entries = access.entries()) {
      if (!entries->admits(wanted_.kind, names)) return denied();
      if (access.only_read_only(wanted_.kind) && !definition.read_only)
        return not_seen(Check::denied, "the caller may only read, and the tool does not declare readOnlyHint");
    }
    if (excludes(names)) return excluded();
    const auto winner = at_.view->find(wanted_.kind, wanted_.name);
    if (winner && winner.snapshot->upstream() != served_->name())
      return not_seen(Check::shadowed,
                      fmt::format("{} comes first and has the name, too", winner.snapshot->upstream().value()));
    return {served_->settings().name, Visibility::seen, Check::listed, "listed"};
  }

  Finding not_in_catalog() const {
    const providers::UpstreamStatus status = served_->status();
    const auto omitted = std::ranges::find_if(
        status.omissions, [&](const auto& one) { return one.kind == wanted_.kind && one.name == own_; });
    if (omitted != status.omissions.end()) return not_seen(Check::omitted, omitted->reason);
    if (served_->pins() && is_proposed()) return unratified();
    if (hides()) return not_seen(Check::hidden, "[[upstreams.tools]] hides it");
    if (const auto* other = by_own_name())
      return not_seen(Check::listed, fmt::format("it is shown by another name: {}", other->shown));
    if (!snapshot_) {
      return not_seen(Check::connected, status.last_error.empty()
                                            ? fmt::format("it is {}", client::to_string(status.state))
                                            : status.last_error);
    }
    const auto fault = std::ranges::find(status.list_faults, wanted_.kind, &client::ListFault::kind);
    if (fault != status.list_faults.end()) return not_seen(Check::connected, fault->message);
    return not_seen(Check::listed, "the upstream does not list it");
  }

  bool is_proposed() const { return served_->pins()->is_posted(wanted_.kind, own_); }
  bool hides() const {
    if (wanted_.kind != Kind::tool) return false;
    bool hidden = false;
    for (const auto& shape : served_->settings().tools) {
      if (shape.hidden && speaks_of(shape, own_)) hidden = *shape.hidden;
    }
    return hidden;
  }
  const catalog::Definition* by_own_name() const {
    if (!snapshot_) return nullptr;
    const auto all = snapshot_->list(wanted_.kind).definitions();
    const auto found = std::ranges::find_if(all, [&](const auto& one) {
      return one.own == own_ || (one.own == wanted_.name && has_own_name(wanted_.kind));
    });
    return found == all.end() ? nullptr : &*found;
  }

  const Viewpoint& at_;
  const ServedUpstream& served_;
  const Wanted& wanted_;
  const std::string_view own_;
  const catalog::SnapshotPointer snapshot_;
};

}  // namespace

std::vector<Finding> find_obstacles(const Viewpoint& viewpoint, const RegisteredUpstreams& registered,
                                    const Wanted& wanted) {
  std::vector<Finding> all;
  for (const auto& served : viewpoint.upstreams->order) {
    const Passage passage(viewpoint, served, wanted);
    if (passage.may_have_it()) all.push_back(passage.look());
  }
  for (const auto& one : registered) {
    if (viewpoint.upstreams->find(one->name()) != nullptr) continue;
    const auto& settings = one->entry.settings;
    if (!catalog::may_show(wanted.kind, wanted.name, providers::name_rules(settings))) continue;
    const bool paused = one->fault.empty();
    all.push_back({one->name(), Visibility::not_seen, paused ? Check::enabled : Check::configured,
                   paused ? "it is paused" : one->fault});
  }
  return all;
}

bool words_are_shaped(const providers::Upstream& upstream, std::string_view own) {
  return std::ranges::any_of(upstream.settings().tools, [&](const auto& shape) {
    return (shape.description || shape.append) && speaks_of(shape, own);
  });
}

}  // namespace proteus::gateway
