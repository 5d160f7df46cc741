#include "gateway/fanout.hpp"

#include <algorithm>
#include <map>

#include <boost/asio/post.hpp>

#include "catalog/view.hpp"
#include "gateway/sight.hpp"

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
  const Time now = std::chrono::steady_clock::now();
  boost::asio::post(io_, [this, publication, now] { collect(publication, now); });
}

void Fanout::stop() {
  stopped_ = true;
  timer_.cancel();
}

void Fanout::collect(const catalog::Publication& publication, Time at) {
  if (stopped_) return;
  if (!after_ || publication.after->version() > after_->version()) after_ = publication.after;
  for (const auto& change : publication.changes)
    changes_.push_back({at, publication.before, change});
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
  const auto after = std::exchange(after_, nullptr);
  auto changes = std::exchange(changes_, {});
  std::ranges::sort(changes, {}, [](const Entry& entry) { return entry.before->version(); });

  // By what a caller may see, and by the first change that it was here for.
  std::map<std::pair<std::string, std::size_t>, catalog::KindSet> known;
  const auto kinds_for = [&](std::string_view fingerprint, const std::function<catalog::Layers()>& layers, Time since) {
    const auto first = std::ranges::find_if(changes, [&](const Entry& entry) { return entry.at >= since; });
    if (first == changes.end()) return catalog::KindSet{};
    const std::pair key(std::string(fingerprint), static_cast<std::size_t>(first - changes.begin()));
    if (const auto found = known.find(key); found != known.end()) return found->second;
    const catalog::View old_view(first->before, layers());
    const catalog::View new_view(after, layers());
    catalog::KindSet kinds;
    for (auto entry = first; entry != changes.end(); ++entry)
      kinds.add(catalog::concerned(old_view, new_view, entry->change));
    return known.emplace(key, kinds).first->second;
  };
  for (const catalog::Kind kind : {catalog::Kind::tool, catalog::Kind::prompt, catalog::Kind::resource}) {
    const server::Listeners::ConcernsSince concerns = [&](const server::Caller& caller, Time since) {
      const Sight sight(caller);
      const catalog::KindSet kinds = kinds_for(sight.fingerprint(), [&] { return sight.layers(); }, since);
      // Templates have no announcement of their own.
      return kinds.has(kind) || (kind == catalog::Kind::resource && kinds.has(catalog::Kind::resource_template));
    };
    listeners_.list_changed(changed_method(kind), concerns);
    const auto everything = [] { return catalog::Layers{}; };
    if (observer_ && kinds_for(catalog::Access::all().fingerprint(), everything, {}).has(kind)) observer_(kind);
  }
}

}  // namespace proteus::gateway
