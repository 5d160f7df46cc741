#include "server/core/session_ids.hpp"

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "mcp/meta.hpp"

namespace proteus::server {
namespace {

constexpr char kFormat = 1;
constexpr std::size_t kFixed = 1 + kProcessKeyBytes + 1;  // format, maker, version
constexpr std::size_t kMostCapabilities = 256;
// Longer than any minted id. Limits what an untrusted client makes us decode.
constexpr std::size_t kLongest = 512;

std::string bound_to(const Caller& caller) {
  return fmt::format("session {}:{} {}", caller.principal.size(), caller.principal, caller.context);
}

}  // namespace

std::string SessionIds::mint(const Caller& caller, mcp::Version version, std::string_view client_capabilities) const {
  std::string plain(1, kFormat);
  plain += self_.value();
  plain += static_cast<char>(version);
  if (client_capabilities.size() <= kMostCapabilities) {
    plain += client_capabilities;
  } else {
    const auto known = mcp::parse_client_capabilities(client_capabilities);
    plain += known ? mcp::write_client_capabilities(*known) : "{}";
  }
  return base64_encode(key_.seal(plain, bound_to(caller)), Base64::url);
}

std::optional<SessionFacts> SessionIds::open(std::string_view id, const Caller& caller) const {
  if (id.size() > kLongest) return std::nullopt;
  const auto sealed = base64_decode(id, Base64::url);
  const auto plain = sealed ? key_.open(*sealed, bound_to(caller)) : std::nullopt;
  if (!plain || plain->size() < kFixed || plain->front() != kFormat) return std::nullopt;
  const auto version = static_cast<mcp::Version>((*plain)[kFixed - 1]);
  if (version > mcp::kNewestLegacy) return std::nullopt;
  return SessionFacts{.maker = ProcessKey(plain->substr(1, kProcessKeyBytes)),
                      .version = version,
                      .client_capabilities = plain->substr(kFixed)};
}

std::optional<SessionFacts> OpenedIds::open(std::string_view id, const Caller& caller) {
  Slot& slot = slots_[std::hash<std::string_view>{}(id) % slots_.size()];
  {
    const std::scoped_lock lock(slot.mutex);
    if (slot.id == id && slot.principal == caller.principal && slot.context == caller.context && !id.empty())
      return slot.facts;
  }
  auto facts = ids_.open(id, caller);
  if (!facts) return std::nullopt;
  const std::scoped_lock lock(slot.mutex);
  slot.id = id;
  slot.principal = caller.principal;
  slot.context = caller.context;
  slot.facts = *facts;
  return facts;
}

}  // namespace proteus::server
