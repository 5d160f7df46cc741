#include "admin/routes/process_routes.hpp"

#include <algorithm>
#include <map>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "json/text.hpp"

namespace proteus::admin {
namespace {

Task<Result<Answer>> list_processes(store::Store& store, const cluster::Member& self) {
  const auto members = co_await store.members();
  if (!members) co_return std::unexpected(members.error());
  const auto leases = co_await store.leases();
  if (!leases) co_return std::unexpected(leases.error());
  const auto page = co_await store.feed(self.applied(), 1);
  if (!page) co_return std::unexpected(page.error());
  std::map<std::string_view, std::size_t> watched;
  for (const auto& lease : *leases)
    ++watched[lease.owner];
  boost::json::array processes;
  for (const auto& member : *members) {
    const auto facts = json::parse(member.facts);
    boost::json::object one = facts && facts->is_object() ? facts->get_object() : boost::json::object();
    const std::uint64_t applied = member.name == self.options().name ? self.applied() : member.applied;
    one["id"] = member.name;
    one["self"] = member.name == self.options().name;
    one["live"] = self.lives(member);
    one["watches"] = watched[member.name];
    one["behind"] = page->newest - std::min(applied, page->newest);
    processes.push_back(std::move(one));
  }
  co_return Answer{.body = boost::json::serialize(boost::json::object{{"processes", std::move(processes)}})};
}

}  // namespace

Routes process_routes(store::Store& store, const cluster::Member& self) {
  return {{.method = "GET",
           .path = "/admin/processes",
           .help = "The processes that share the store: version, since when, how many upstreams each watches, how many "
                   "changes it is behind.",
           .handle = [&store, &self](AdminRequest&) { return list_processes(store, self); }}};
}

}  // namespace proteus::admin
