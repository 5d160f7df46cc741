#include "auth/tokens/claims.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "json/canonical.hpp"

namespace proteus::auth {
namespace {

// Longer than any known name. Names become keys of tables and appear in logs.
constexpr std::size_t kMaxName = 1024;
constexpr double kFarthest = 200.0 * 365 * 24 * 3600;  // seconds from 1970

Error wrong_type(std::string_view claim, std::string_view expected) {
  return errors::invalid(fmt::format("the claim {} is not {}", claim, expected));
}

const boost::json::value* given(const boost::json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<> read_text(const boost::json::object& claims, std::string_view name, std::string& onto) {
  const auto* value = given(claims, name);
  if (value == nullptr) return {};
  const auto* text = value->if_string();
  if (text == nullptr) return std::unexpected(wrong_type(name, "a text"));
  if (text->size() > kMaxName) return std::unexpected(errors::too_large(fmt::format("the claim {}", name), kMaxName));
  onto = *text;
  return {};
}

// Reads a NumericDate (RFC 7519, section 2), which may have a fraction.
Result<> read_time(const boost::json::object& claims, std::string_view name, std::optional<Clock::Wall>& onto) {
  const auto* value = given(claims, name);
  if (value == nullptr) return {};
  if (!value->is_number()) return std::unexpected(wrong_type(name, "a number"));
  const double seconds = std::clamp(value->to_number<double>(), -kFarthest, kFarthest);
  onto = Clock::Wall(std::chrono::duration_cast<Clock::Wall::duration>(std::chrono::duration<double>(seconds)));
  return {};
}

// Returns a value in the form that rules compare; nothing if it has none.
std::optional<std::string> as_value(const boost::json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (value.is_number() || value.is_bool()) return json::canonical(value);
  return std::nullopt;
}

// Returns the claim that a path leads to. If names contain dots, the longest one that exists counts.
const boost::json::value* follow(const boost::json::object& claims, std::string_view path) {
  const boost::json::object* here = &claims;
  while (true) {
    if (const auto* found = here->if_contains(path)) return found;
    const boost::json::object* inner = nullptr;
    std::size_t dot = path.rfind('.');
    for (; dot != std::string_view::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
      const auto* found = here->if_contains(path.substr(0, dot));
      inner = found == nullptr ? nullptr : found->if_object();
      if (inner != nullptr) break;
    }
    if (inner == nullptr) return nullptr;
    here = inner;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

Result<Claims> Claims::read(boost::json::object claims) {
  Claims made;
  made.all_ = std::move(claims);
  for (const auto step : {&Claims::read_names, &Claims::read_times, &Claims::read_scopes, &Claims::read_binding}) {
    if (auto read = (made.*step)(); !read) return std::unexpected(std::move(read.error()));
  }
  return made;
}

Result<> Claims::read_names() {
  std::string authorized_party;
  for (const auto& [name, onto] : {std::pair("iss", &issuer_), std::pair("sub", &subject_),
                                   std::pair("client_id", &client_), std::pair("azp", &authorized_party)}) {
    if (auto read = read_text(all_, name, *onto); !read) return read;
  }
  if (client_.empty()) client_ = std::move(authorized_party);
  if (subject_.empty()) subject_ = client_;
  const auto* audience = given(all_, "aud");
  if (audience == nullptr) return {};
  if (const auto* text = audience->if_string()) {
    audiences_.emplace_back(*text);
    return {};
  }
  const auto* list = audience->if_array();
  if (list == nullptr) return std::unexpected(wrong_type("aud", "a text or a list of texts"));
  for (const auto& one : *list) {
    if (!one.is_string()) return std::unexpected(wrong_type("aud", "a text or a list of texts"));
    audiences_.emplace_back(one.get_string());
  }
  return {};
}

Result<> Claims::read_times() {
  for (const auto& [name, onto] :
       {std::pair("exp", &expires_), std::pair("nbf", &not_before_), std::pair("iat", &issued_at_)}) {
    if (auto read = read_time(all_, name, *onto); !read) return read;
  }
  return {};
}

Result<> Claims::read_scopes() {
  std::unordered_set<std::string_view> seen;
  const auto add = [&](std::string_view scope) {
    if (!scope.empty() && seen.insert(scope).second) scopes_.emplace_back(scope);
  };
  const auto add_all = [&](std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      add(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  for (const std::string_view name : {"scope", "scp"}) {
    const auto* value = given(all_, name);
    if (value == nullptr) continue;
    if (const auto* text = value->if_string()) {
      add_all(*text);
      continue;
    }
    const auto* list = value->if_array();
    if (list == nullptr) return std::unexpected(wrong_type(name, "a text or a list of texts"));
    for (const auto& one : *list) {
      if (!one.is_string()) return std::unexpected(wrong_type(name, "a text or a list of texts"));
      add(one.get_string());
    }
  }
  return {};
}

Result<> Claims::read_binding() {
  const auto* confirmation = given(all_, "cnf");
  if (confirmation == nullptr) return {};
  const auto* object = confirmation->if_object();
  if (object == nullptr) return std::unexpected(wrong_type("cnf", "an object"));
  if (auto read = read_text(*object, "jkt", key_thumbprint_); !read) return read;
  // The token is bound to something that is not checked here, such as a certificate (RFC 8705): a thief could use it.
  if (key_thumbprint_.empty())
    return std::unexpected(errors::unsupported("the token is bound by something other than a DPoP key"));
  return {};
}

std::vector<std::string> Claims::values(std::string_view path) const {
  if (path == "scope" || path == "scp") return scopes_;
  const auto* found = follow(all_, path);
  if (found == nullptr) return {};
  std::vector<std::string> values;
  if (const auto* list = found->if_array()) {
    values.reserve(std::min(list->size(), kMaxValues));
    for (const auto& one : *list) {
      if (values.size() == kMaxValues) break;
      if (auto value = as_value(one)) values.push_back(std::move(*value));
    }
  } else if (auto value = as_value(*found)) {
    values.push_back(std::move(*value));
  }
  return values;
}

bool is_for(const Claims& claims, std::span<const std::string> accepted) {
  return std::ranges::any_of(claims.audiences(), [&](const std::string& audience) {
    return std::ranges::find(accepted, audience) != accepted.end();
  });
}

Result<> check_times(const Claims& claims, Clock::Wall now, std::chrono::milliseconds leeway) {
  if (claims.expires() && *claims.expires() + leeway <= now)
    return std::unexpected(errors::unauthenticated("the token has expired"));
  if (claims.not_before() && *claims.not_before() - leeway > now)
    return std::unexpected(errors::unauthenticated("the token is not valid yet"));
  if (claims.issued_at() && *claims.issued_at() - leeway > now)
    return std::unexpected(errors::unauthenticated("the token was issued in the future; do the clocks agree?"));
  return {};
}

Result<> check_claims(const Claims& claims, std::string_view issuer, Clock::Wall now,
                      std::chrono::milliseconds leeway) {
  if (claims.issuer() != issuer) return std::unexpected(errors::unauthenticated("the token is of another issuer"));
  if (claims.subject().empty())
    return std::unexpected(errors::unauthenticated("the token names neither a subject nor a client"));
  if (!claims.expires()) return std::unexpected(errors::unauthenticated("the token has no end"));
  return check_times(claims, now, leeway);
}

}  // namespace proteus::auth
