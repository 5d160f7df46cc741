#include "gateway/connections/upstream_sessions_of_client.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "json/text.hpp"

namespace proteus::gateway {
namespace {

std::string text_at(const boost::json::object& object, std::string_view name) {
  const auto* const member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string(member->get_string()) : std::string();
}

std::optional<client::ResumedSession> read_session(const boost::json::object& object) {
  const auto version = mcp::parse_version(text_at(object, "version"));
  std::string id = text_at(object, "id");
  if (!version || id.empty()) return std::nullopt;
  return client::ResumedSession{{std::move(id), *version}, text_at(object, "capabilities")};
}

}  // namespace

void UpstreamSessionsOfClient::note(const providers::UpstreamSettings& upstream,
                                    std::optional<client::ResumedSession> session) {
  const std::scoped_lock lock(held_mutex_);
  held_.insert_or_assign(upstream.name, Held{.session = std::move(session), .url = upstream.url});
}

std::optional<std::string> UpstreamSessionsOfClient::state() const {
  const std::scoped_lock lock(held_mutex_);
  boost::json::object all;
  for (const auto& [upstream, held] : held_) {
    if (!held.session) return std::nullopt;
    const auto& [session, capabilities] = *held.session;
    all.emplace(upstream, boost::json::object{{"id", session.id},
                                              {"version", mcp::to_string(session.version)},
                                              {"capabilities", capabilities},
                                              {"url", held.url}});
  }
  return all.empty() ? std::string() : boost::json::serialize(all);
}

void UpstreamSessionsOfClient::restore(std::string_view state) {
  const auto parsed = state.empty() ? Result<boost::json::value>() : json::parse(state);
  if (!parsed || !parsed->is_object()) return;
  const std::scoped_lock lock(held_mutex_);
  for (const auto& [upstream, value] : parsed->get_object()) {
    if (!value.is_object()) continue;
    auto session = read_session(value.get_object());
    if (!session) continue;
    // A session that was opened here is newer than the one that was left.
    held_.try_emplace(std::string(upstream),
                      Held{.session = std::move(session), .url = text_at(value.get_object(), "url"), .is_left = true});
  }
}

std::optional<client::ResumedSession> UpstreamSessionsOfClient::take_left(const providers::UpstreamSettings& upstream) {
  const std::scoped_lock lock(held_mutex_);
  const auto found = held_.find(upstream.name);
  if (found == held_.end() || !std::exchange(found->second.is_left, false)) return std::nullopt;
  // Earlier versions did not write the URL.
  if (!found->second.url.empty() && found->second.url != upstream.url) return std::nullopt;
  return found->second.session;
}

}  // namespace proteus::gateway
