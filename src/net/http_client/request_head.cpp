#include "net/http_client/request_head.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "net/http/field_text.hpp"
#include "net/http/token.hpp"

namespace proteus::net {
namespace {

// Whether only the client sets this field. It decides framing or routing, and a second, different value would allow
// request smuggling.
bool is_ours(std::string_view name) {
  switch (name.size()) {
    case 4: return same_field_name(name, "host");
    case 7: return same_field_name(name, "upgrade") || same_field_name(name, "trailer");
    case 10: return same_field_name(name, "connection") || same_field_name(name, "keep-alive");
    case 14: return same_field_name(name, "content-length");
    case 16: return same_field_name(name, "proxy-connection");
    case 17: return same_field_name(name, "transfer-encoding");
    case 19: return same_field_name(name, "proxy-authorization");
    default: return false;
  }
}

// Appends all parts with one resize.
template <class... Parts>
void append(std::string& out, Parts... parts) {
  const std::size_t before = out.size();
  const std::size_t size = (before + ... + parts.size());
  out.resize_and_overwrite(size, [&](char* text, std::size_t /*room*/) {
    char* at = text + before;
    ((at += parts.copy(at, parts.size())), ...);
    return size;
  });
}

void add(std::string& out, std::string_view name, std::string_view value) {
  append(out, name, std::string_view(": "), value, std::string_view("\r\n"));
}

// Which of the fields that every request has were given by the caller.
struct Named {
  bool agent = false;
  bool coding = false;
};

Result<> add_checked(std::string& out, std::span<const Field> fields, Named& named) {
  for (const auto& [name, value] : fields) {
    if (!is_token(name) || is_ours(name)) {
      return std::unexpected(errors::invalid(fmt::format("'{}' cannot be a field of a request", log::printable(name))));
    }
    if (has_control(value)) {
      return std::unexpected(errors::invalid(fmt::format("the value of field {} holds control characters", name)));
    }
    named.agent = named.agent || same_field_name(name, "user-agent");
    named.coding = named.coding || same_field_name(name, "accept-encoding");
    add(out, name, value);
  }
  return {};
}

void add_missing(std::string& out, const Named& named, std::string_view user_agent) {
  if (!named.agent && !user_agent.empty()) add(out, "User-Agent", user_agent);
  // Without this field, every coding would be acceptable (RFC 9110, section 12.5.3).
  if (!named.coding) add(out, "Accept-Encoding", "identity");
}

}  // namespace

Result<std::string> write_fields(std::span<const Field> fields) {
  std::string lines;
  Named named;
  if (auto added = add_checked(lines, fields, named); !added) return std::unexpected(std::move(added.error()));
  return lines;
}

Result<std::string> prepare_fields(std::span<const Field> fields, std::string_view user_agent) {
  std::string lines;
  Named named;
  if (auto added = add_checked(lines, fields, named); !added) return std::unexpected(std::move(added.error()));
  add_missing(lines, named, user_agent);
  return lines;
}

Result<> write_request_head(std::string& out, const ClientRequest& request, std::string_view user_agent,
                            const Proxy* proxy) {
  if (!is_token(request.method) || request.method == "CONNECT") {
    return std::unexpected(errors::invalid(fmt::format("'{}' is not a method", log::printable(request.method))));
  }
  const bool absolute = proxy && !request.url.is_https();
  const std::string_view target = absolute ? std::string_view(request.url.text()) : request.url.target();
  out.clear();
  append(out, std::string_view(request.method), std::string_view(" "), target, std::string_view(" HTTP/1.1\r\nHost: "),
         std::string_view(request.url.authority()), std::string_view("\r\n"), request.prepared, request.more_prepared);
  Named named{.agent = !request.prepared.empty(), .coding = !request.prepared.empty()};
  if (auto added = add_checked(out, request.fields, named); !added) return added;
  add_missing(out, named, user_agent);
  if (absolute && !proxy->authorization.empty()) add(out, "Proxy-Authorization", proxy->authorization);

  std::size_t size = 0;
  for (const std::string_view part : request.body)
    size += part.size();
  if (size > 0 || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    std::array<char, 20> digits{};
    const auto [end, _] = std::to_chars(digits.data(), digits.data() + digits.size(), size);
    add(out, "Content-Length", std::string_view(digits.data(), end));
  }
  out += "\r\n";
  return {};
}

}  // namespace proteus::net
