#include "gateway/connections/upstream_sessions_of_client.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "json/text.hpp"

namespace proteus::gateway {
namespace {

std::optional<client::ResumedSession> read_session(const boost::json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const auto text = [&object = value.get_object()](std::string_view name) -> std::string {
    const auto* const member = object.if_contains(name);
    return member != nullptr && member->is_string() ? std::string(member->get_string()) : std::string();
  };
  const auto version = mcp::parse_version(text("version"));
  if (!version || text("id").empty()) return std::nullopt;
  return client::ResumedSession{{text("id"), *version}, text("capabilities")};
}

}  // namespace

void UpstreamSessionsOfClient::note(const std::string& upstream, std::optional<client::ResumedSession> session) {
  const std::scoped_lock lock(held_mutex_);
  held_.insert_or_assign(upstream, Held{.session = std::move(session)});
}

std::optional<std::string> UpstreamSessionsOfClient::state() const {
  const std::scoped_lock lock(held_mutex_);
  boost::json::object all;
  for (const auto& [upstream, held] : held_) {
    if (!held.session) return std::nullopt;
    const auto& [session, capabilities] = *held.session;
    all.emplace(upstream,
                boost::json::object{
                    {"id", session.id}, {"version", mcp::to_string(session.version)}, {"capabilities", capabilities}});
  }
  return all.empty() ? std::string() : boost::json::serialize(all);
}

void UpstreamSessionsOfClient::restore(std::string_view state) {
  const auto parsed = state.empty() ? Result<boost::json::value>() : json::parse(state);
  if (!parsed || !parsed->is_object()) return;
  const std::scoped_lock lock(held_mutex_);
  for (const auto& [upstream, value] : parsed->get_object()) {
    if (auto session = read_session(value))
      held_.insert_or_assign(std::string(upstream), Held{.session = std::move(session), .is_left = true});
  }
}

std::optional<client::ResumedSession> UpstreamSessionsOfClient::take_left(const std::string& upstream) {
  const std::scoped_lock lock(held_mutex_);
  const auto found = held_.find(upstream);
  if (found == held_.end() || !std::exchange(found->second.is_left, false)) return std::nullopt;
  return found->second.session;
}

}  // namespace proteus::gateway
