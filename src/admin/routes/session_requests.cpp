#include "admin/routes/session_requests.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/settings/names.hpp"
#include "base/settings/nearest.hpp"
#include "json/fault_error.hpp"
#include "json/place.hpp"

namespace proteus::admin {
namespace {

using boost::json::object;
using boost::json::value;
using gateway::ToolSessionId;
using gateway::ToolSessions;

constexpr std::size_t kMaxSessionId = 128;
constexpr std::size_t kMaxUserId = 256;

enum class Need : std::uint8_t { required, optional };

// Reads the members of a body and collects the faults.
class BodyReader {
 public:
  BodyReader(const value& body, std::span<const std::string_view> known) {
    if (!body.is_object()) {
      place_.fault("must be an object");
      return;
    }
    members_ = &body.get_object();
    for (const auto& member : *members_) {
      if (std::ranges::find(known, std::string_view(member.key())) != known.end()) continue;
      const std::string_view meant = nearest(member.key(), known);
      const std::string name = log::printable(member.key(), 64);
      place_.member(name).fault(meant.empty() ? "is not a known key"
                                              : fmt::format("is not a known key; did you mean {}?", meant));
    }
  }

  const value* find(std::string_view key, Need need) {
    if (members_ == nullptr) return nullptr;
    const value* const found = members_->if_contains(key);
    // Clients of many languages write omitted members as null.
    const bool absent = found == nullptr || found->is_null();
    if (absent && need == Need::required) fault(key, "is missing");
    return absent ? nullptr : found;
  }
  std::optional<std::string> text(std::string_view key, Need need) {
    const value* const found = find(key, need);
    if (found == nullptr) return std::nullopt;
    if (!found->is_string()) fault(key, "must be a string");
    if (!found->is_string()) return std::nullopt;
    return std::string(found->get_string());
  }

  ToolSessionId session_id() {
    const auto id = text("session_id", Need::required);
    if (!id) return {};
    auto read = read_session_id(*id);
    if (!read) fault("session_id", read.error().message());
    return read ? *read : ToolSessionId();
  }
  std::optional<Secret> token(std::string_view key, Need need) {
    auto given = text(key, need);
    if (!given) return std::nullopt;
    // The token is sent in an HTTP header.
    const bool fits = !given->empty() && given->size() <= ToolSessions::kMaxToken &&
                      std::ranges::all_of(*given, [](char c) { return c > ' ' && c < '\x7f'; });
    if (!fits) {
      fault(key, fmt::format("must be 1 to {} visible ASCII characters without spaces", ToolSessions::kMaxToken));
    }
    return Secret(std::move(*given));
  }
  std::optional<std::string> user_id(Need need) {
    const value* const found = find("user_id", need);
    if (found == nullptr) return std::nullopt;
    const bool fits = found->is_int64() || found->is_uint64() || (found->is_string() && !found->get_string().empty());
    if (!fits) fault("user_id", "must be a whole number or a text");
    std::string written = boost::json::serialize(*found);
    if (written.size() > kMaxUserId) fault("user_id", fmt::format("is longer than {} bytes", kMaxUserId));
    return written;
  }

  void fault(std::string_view key, std::string message) { place_.member(key).fault(std::move(message)); }
  template <class T>
  Result<T> finish(T value) const {
    if (faults_.empty()) return value;
    return std::unexpected(errors::faults("the body", faults_.all()));
  }

 private:
  json::Faults faults_;
  json::Place place_{faults_};
  const object* members_ = nullptr;
};

}  // namespace

Result<ToolSessionId> read_session_id(std::string_view text) {
  const bool fits = !text.empty() && text.size() <= kMaxSessionId &&
                    std::ranges::all_of(text, [](char c) { return is_name_character(c) || c == ':' || c == '~'; });
  if (fits) return ToolSessionId(std::string(text));
  return std::unexpected(errors::invalid(
      fmt::format("must be 1 to {} letters, digits, \"-\", \"_\", \".\", \":\" and \"~\"", kMaxSessionId)));
}

Result<ToolSessions::Init> read_init(const value& body) {
  constexpr std::array<std::string_view, 6> kKnown = {"session_id",    "user_token", "user_id",
                                                      "backend_token", "context",    "catalog"};
  BodyReader reader(body, kKnown);
  ToolSessions::Init init;
  init.id = reader.session_id();
  init.user_token = reader.token("user_token", Need::required).value_or(Secret());
  init.user_id = reader.user_id(Need::required).value_or("");
  init.backend_token = reader.token("backend_token", Need::optional);
  init.context = reader.text("context", Need::optional).value_or("");
  const std::string catalog = reader.text("catalog", Need::optional).value_or("shared");
  if (catalog != "shared" && catalog != "session") reader.fault("catalog", R"(must be "shared" or "session")");
  init.catalog = catalog == "session" ? gateway::CatalogMode::session : gateway::CatalogMode::shared;
  return reader.finish(std::move(init));
}

Result<ToolSessions::Registration> read_registration(const value& body) {
  constexpr std::array<std::string_view, 4> kKnown = {"session_id", "tools", "user_token", "user_id"};
  BodyReader reader(body, kKnown);
  ToolSessions::Registration registration;
  registration.id = reader.session_id();
  registration.user_token = reader.token("user_token", Need::optional);
  registration.user_id = reader.user_id(Need::optional);
  const value* const tools = reader.find("tools", Need::required);
  if (tools != nullptr && !tools->is_array()) reader.fault("tools", "must be an array");
  if (tools != nullptr && tools->is_array() && tools->get_array().empty()) reader.fault("tools", "is empty");
  return reader.finish(std::move(registration));
}

Result<SessionAndName> read_unregistration(const value& body) {
  constexpr std::array<std::string_view, 2> kKnown = {"session_id", "name"};
  BodyReader reader(body, kKnown);
  SessionAndName read;
  read.id = reader.session_id();
  read.name = reader.text("name", Need::required).value_or("");
  return reader.finish(std::move(read));
}

Result<ToolSessionId> read_cleanup(const value& body) {
  constexpr std::array<std::string_view, 1> kKnown = {"session_id"};
  BodyReader reader(body, kKnown);
  return reader.finish(reader.session_id());
}

}  // namespace proteus::admin
