#include "admin/routes/process_routes.hpp"

#include <algorithm>
#include <map>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "json/text.hpp"

namespace proteus::admin {
namespace {

boost::json::object facts_of(const store::MemberRecord& member) {
  const auto facts = json::parse(member.facts);
  return facts && facts->is_object() ? facts->get_object() : boost::json::object();
}

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
  boost::json::object own;
  for (const auto& member : *members) {
    if (member.name == self.options().name) own = facts_of(member);
  }
  boost::json::array processes;
  for (const auto& member : *members) {
    boost::json::object one = facts_of(member);
    const auto differs = differing_facts(own, one);
    one["differs"] = boost::json::array(differs.begin(), differs.end());
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

std::vector<std::string_view> differing_facts(const boost::json::object& own, const boost::json::object& other) {
  std::vector<std::string_view> names;
  for (const std::string_view name : {"configuration", "mappings"}) {
    const auto* const here = own.if_contains(name);
    const auto* const there = other.if_contains(name);
    // An older version may not publish all facts.
    if (here != nullptr && there != nullptr && *here != *there) names.push_back(name);
  }
  return names;
}

Routes process_routes(store::Store& store, const cluster::Member& self) {
  return {{.method = "GET",
           .path = "/admin/processes",
           .help = "The processes that share the store: version, since when, how many upstreams each watches, how many "
                   "changes it is behind, and what is configured differently there.",
           .handle = [&store, &self](AdminRequest&) { return list_processes(store, self); }}};
}

}  // namespace proteus::admin
