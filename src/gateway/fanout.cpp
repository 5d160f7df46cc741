#include "gateway/fanout.hpp"

#include <algorithm>
#include <map>

#include <boost/asio/post.hpp>

#include "catalog/view.hpp"
#include "gateway/principal.hpp"

namespace proteus::gateway {
namespace {

mcp::Method changed_method(catalog::Kind kind) {
  switch (kind) {
    case catalog::Kind::tool: return mcp::Method::tools_changed;
    case catalog::Kind::prompt: return mcp::Method::prompts_changed;
    case catalog::Kind::resource:
    case catalog::Kind::resource_template: break;
  }
  return mcp::Method::resources_changed;
}

}  // namespace

Fanout::Fanout(boost::asio::io_context& io, server::Listeners& listeners, std::chrono::milliseconds debounce)
    : io_(io), listeners_(listeners), debounce_(debounce), timer_(io) {}

void Fanout::publish(const catalog::Publication& publication) {
  if (publication.changes.empty()) return;
  boost::asio::post(io_, [this, publication, now = std::chrono::steady_clock::now()] {
    changed_at_ = std::max(changed_at_, now);
    collect(publication);
  });
}

void Fanout::stop() {
  stopped_ = true;
  timer_.cancel();
}

void Fanout::collect(const catalog::Publication& publication) {
  if (stopped_) return;
  if (!before_) before_ = publication.before;
  if (!after_ || publication.after->version() > after_->version()) after_ = publication.after;
  changes_.insert(changes_.end(), publication.changes.begin(), publication.changes.end());
  if (std::exchange(waiting_, true)) return;
  // The first change is told of at once; those that follow closely wait for one another.
  timer_.expires_at(std::max(std::chrono::steady_clock::now(), told_at_ + debounce_));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tell();
  });
}

void Fanout::tell() {
  waiting_ = false;
  told_at_ = std::chrono::steady_clock::now();
  const auto before = std::exchange(before_, nullptr);
  const auto after = std::exchange(after_, nullptr);
  const auto changes = std::exchange(changes_, {});
  std::map<std::string, catalog::KindSet> concerned_by;  // by what a caller may see
  const auto kinds_for = [&](const catalog::Access& access) {
    const auto known = concerned_by.find(access.fingerprint());
    if (known != concerned_by.end()) return known->second;
    const catalog::View old_view(before, {.access = access, .front = {}, .lens = {}});
    const catalog::View new_view(after, {.access = access, .front = {}, .lens = {}});
    catalog::KindSet kinds;
    for (const auto& change : changes)
      kinds.add(catalog::concerned(old_view, new_view, change));
    return concerned_by.emplace(access.fingerprint(), kinds).first->second;
  };
  for (const catalog::Kind kind : {catalog::Kind::tool, catalog::Kind::prompt, catalog::Kind::resource}) {
    const auto concerns = [&](const server::Caller& caller) {
      const catalog::KindSet kinds = kinds_for(principal_of(caller).access());
      // Templates have no announcement of their own.
      return kinds.has(kind) || (kind == catalog::Kind::resource && kinds.has(catalog::Kind::resource_template));
    };
    listeners_.list_changed(changed_method(kind), concerns, changed_at_);
    if (observer_ && kinds_for(catalog::Access::all()).has(kind)) observer_(kind);
  }
}

}  // namespace proteus::gateway
