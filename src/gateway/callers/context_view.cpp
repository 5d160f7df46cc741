#include "gateway/callers/context_view.hpp"

#include <map>

#include <fmt/format.h>

#include "gateway/upstreams/local_provider.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

constexpr std::size_t kMostKnown = 4096;

// Answers reads of the resources by which contexts describe themselves.
class ContextGuide final : public LocalProvider {
 public:
  using Documents = std::map<std::string, std::string, std::less<>>;  // by URI

  ContextGuide(catalog::UpstreamName name, catalog::SnapshotPointer snapshot, Documents documents)
      : name_(std::move(name)), snapshot_(std::move(snapshot)), documents_(std::move(documents)) {}

  const catalog::UpstreamName& name() const override { return name_; }
  catalog::SnapshotPointer snapshot() const override { return snapshot_; }

  Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) override {
    if (call.request().method->method != mcp::Method::resources_read) {
      co_return std::unexpected(mcp::errors::method_not_found(call.request().method->name));
    }
    const auto document = documents_.find(found.definition->own);
    if (document == documents_.end()) {
      co_return std::unexpected(mcp::errors::resource_not_found(found.definition->own));
    }
    mcp::Reply reply;
    reply.members.add(fmt::format(R"("contents":[{{"uri":{},"mimeType":"application/json","text":{}}}])",
                                  json::quote(document->first), json::quote(document->second)));
    co_return reply;
  }

 private:
  const catalog::UpstreamName name_;
  const catalog::SnapshotPointer snapshot_;
  const Documents documents_;
};

// No upstream can have this name.
const catalog::UpstreamName& guide_name() {
  static const catalog::UpstreamName name("context:");
  return name;
}

// A request may be under way while a reload removes its context.
ContextView gone_view() {
  ContextView view;
  view.gone = true;
  view.fingerprint = "gone";
  return view;
}

}  // namespace

ContextView outlook_of(const catalog::Contexts& contexts, const Principal& principal, std::string_view context) {
  const auto may_enter = [&](std::string_view name) { return principal.may_enter(name); };
  ContextView context_view;
  context_view.personal = !principal.enters_all();
  std::vector<std::string> names;
  if (context.empty()) {
    for (const auto& [name, each] : contexts.all()) {
      if (may_enter(name)) names.push_back(name);
    }
  } else {
    context_view.lens = contexts.lens(context, may_enter);
    if (!context_view.lens) return gone_view();
    names.emplace_back(context);
    for (const auto& sibling : context_view.lens->siblings())
      names.push_back(sibling.name);
  }
  ContextGuide::Documents documents;
  std::string all = context_view.lens ? context_view.lens->fingerprint() : "";
  for (const auto& name : names) {
    const auto lens = contexts.lens(name, may_enter);
    auto document = catalog::write_context(lens->context(), lens->siblings());
    all += "\n" + document;
    documents.emplace(std::string(catalog::kContextScheme) + name, std::move(document));
  }
  context_view.fingerprint = json::hex(json::sha256(all));
  if (auto offered = contexts.resources(guide_name(), names)) {
    context_view.guide = std::make_shared<ContextGuide>(guide_name(), std::move(offered), std::move(documents));
  }
  return context_view;
}

std::shared_ptr<const ContextView> ContextViews::of(const catalog::Contexts::Pointer& contexts,
                                                    const server::Caller& caller) {
  if (!contexts || contexts->empty()) {
    if (caller.context.empty()) return nullptr;
    static const auto gone = std::make_shared<const ContextView>(gone_view());
    return gone;
  }
  if (contexts_ != contexts || size_ >= kMostKnown) {
    known_.clear();
    size_ = 0;
    contexts_ = contexts;
  }
  const Principal& principal = principal_of(caller);
  const std::string_view entry = principal.entry();
  auto at = known_.find(entry);
  if (at == known_.end()) at = known_.try_emplace(std::string(entry)).first;
  const auto found = at->second.find(caller.context);
  if (found != at->second.end()) return found->second;
  ++size_;
  auto made = std::make_shared<const ContextView>(outlook_of(*contexts, principal, caller.context));
  at->second.emplace(caller.context, made);
  return made;
}

}  // namespace proteus::gateway
