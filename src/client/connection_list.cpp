#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/connection.hpp"

namespace proteus::client {
namespace {

constexpr int kTimeouts = 4;

}  // namespace

Task<Result<Listing>> Connection::list(mcp::Method method, RequestOptions options) {
  const auto opened = co_await open();
  if (!opened) co_return std::unexpected(opened.error());
  if (!mcp::offers((*opened)->offers, method)) co_return Listing{};
  const std::string_view method_name = mcp::to_string(method);
  ListReader reader(method, options_.limits.lists, *options_.log);
  std::optional<std::string> cursor;
  const auto page_time = time_of(method, options);
  const auto end = std::chrono::steady_clock::now() + options.list_timeout.value_or(kTimeouts * page_time);
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) co_return std::unexpected(errors::timeout(fmt::format("{}, all pages", method_name)));
    options.timeout = std::min(page_time, left);
    Params params;
    if (cursor) params.members.add(fmt::format(R"("cursor":{})", *cursor));
    const auto page = co_await request(method, std::move(params), options);
    if (!page) {
      Listing none;
      if (!cursor && is_unimplemented(page.error())) {
        none.unimplemented = page.error();
        co_return none;
      }
      co_return std::unexpected(page.error());
    }
    auto next = reader.add(*page);
    if (!next) co_return std::unexpected(std::move(next.error()));
    cursor = std::move(*next);
  } while (cursor);
  Listing listing = reader.take();
  if (method == mcp::Method::tools_list) learn_tools(listing);
  co_return listing;
}

void Connection::learn_tools(Listing& listing) {
  const auto& footing = link_.current();
  if (!footing || footing->era() != mcp::Era::modern || !footing->transport->has_headers()) return;
  mirrors_.clear();
  std::erase_if(listing.entries, [this](const Entry& tool) {
    const auto learned = mirrors_.learn(tool.name, tool.definition);
    if (!learned)
      options_.log->warning("the tool {} is left out: {}", log::printable(tool.name), learned.error().message());
    return !learned.has_value();
  });
}

}  // namespace proteus::client
