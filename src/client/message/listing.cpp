#include "client/message/listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::client {
namespace {

constexpr std::size_t kMaxCursorBytes = 64UL * 1024;

struct Keys {
  std::string_view list;
  std::string_view name;
};

Keys keys_of(mcp::Method method) {
  switch (method) {
    case mcp::Method::prompts_list: return {"prompts", "name"};
    case mcp::Method::resources_list: return {"resources", "uri"};
    case mcp::Method::resource_templates_list: return {"resourceTemplates", "uriTemplate"};
    default: return {"tools", "name"};
  }
}

std::optional<mcp::Caching> read_caching(const Received& page) {
  const auto ttl = json::as_int64(page.member("ttlMs"));
  const auto scope = json::plain_string(page.member("cacheScope"));
  if (!ttl || !scope) return std::nullopt;
  // A day is as useful as any longer time, and cannot overflow in later arithmetic.
  constexpr std::int64_t kDay = 24LL * 60 * 60 * 1000;
  return mcp::Caching{.ttl = std::chrono::milliseconds(std::clamp<std::int64_t>(*ttl, 0, kDay)),
                      .scope = *scope == "public" ? mcp::CacheScope::shared : mcp::CacheScope::per_caller};
}

void narrow(std::optional<mcp::Caching>& all, const std::optional<mcp::Caching>& page, bool first) {
  if (first) {
    all = page;
  } else if (!page) {
    all.reset();
  } else if (all) {
    all->ttl = std::min(all->ttl, page->ttl);
    if (page->scope == mcp::CacheScope::per_caller) all->scope = mcp::CacheScope::per_caller;
  }
}

}  // namespace

bool is_unimplemented(const Error& error) {
  return error.kind() == ErrorKind::remote && error.rpc_code() == mcp::code::kMethodNotFound;
}

Result<std::optional<std::string>> ListReader::add(const Received& page) {
  const Keys keys = keys_of(method_);
  const auto within = [this](Error error) { return std::unexpected(std::move(error).within(mcp::to_string(method_))); };
  if (listing_.pages.size() == limits_.pages) return within(errors::too_large("the number of pages", limits_.pages));
  bytes_ += page.text().size();
  if (bytes_ > limits_.bytes) return within(errors::too_large("the size of the list", limits_.bytes));

  const std::string_view list = page.member(keys.list);
  if (list.empty() || list.front() != '[')
    return within(errors::protocol(fmt::format("the answer has no list of {}", keys.list)));
  const auto elements = json::elements_of(list, limits_.entries - listing_.entries.size(), {.bytes = list.size()});
  if (!elements) {
    if (elements.error().kind() == ErrorKind::too_large)
      return within(errors::too_large("the number of entries", limits_.entries));
    return within(elements.error());
  }
  std::vector<std::unique_ptr<std::string>> storage;
  std::string_view unusable;  // the first entry that is left out
  std::size_t left_out = 0;
  for (const std::string_view element : *elements) {
    const auto members = json::members_of(element, storage);
    auto name = members ? json::decode_string(members->value(keys.name))
                        : Result<std::string>(std::unexpected(members.error()));
    if (!name || name->empty()) {
      if (left_out++ == 0) unusable = element;
      continue;
    }
    listing_.entries.push_back({std::move(*name), element});
  }
  if (left_out > 0) {
    log_->warning("{}: {} entries of a page are left out, without a usable {}; the first is {}",
                  mcp::to_string(method_), left_out, keys.name, log::printable(unusable, 80));
  }
  narrow(listing_.caching, read_caching(page), listing_.pages.empty());
  listing_.pages.push_back(page.bytes());

  const std::string_view cursor = page.member("nextCursor");
  // The specification does not allow null or an empty string for the end, but servers that send them are common.
  if (cursor.empty() || cursor == "null" || cursor == "\"\"") return std::nullopt;
  if (!json::is_string(cursor)) return within(errors::protocol("the cursor is not a string"));
  if (cursor.size() > kMaxCursorBytes) return within(errors::too_large("a cursor", kMaxCursorBytes));
  if (!cursors_.emplace(cursor).second) return within(errors::protocol("a cursor returns: the pages would never end"));
  return std::string(cursor);
}

}  // namespace proteus::client
