#include <fmt/format.h>

#include "base/log.hpp"
#include "client/connection.hpp"
#include "mcp/errors.hpp"

namespace proteus::client {

Task<Result<Listing>> Connection::list(mcp::Method method, RequestOptions options) {
  const auto opened = co_await open();
  if (!opened) co_return std::unexpected(opened.error());
  if (!mcp::offers((*opened)->offers, method)) co_return Listing{};
  ListReader reader(method, options_.limits.lists);
  std::optional<std::string> cursor;
  do {
    Params params;
    if (cursor) params.members.add(fmt::format(R"("cursor":{})", *cursor));
    const auto page = co_await request(method, std::move(params), options);
    if (!page) {
      // Many servers that have resources have no templates, and not even an empty list of them.
      const bool no_templates =
          method == mcp::Method::resource_templates_list && page.error().rpc_code() == mcp::code::kMethodNotFound;
      if (no_templates) co_return Listing{};
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
    if (!learned) log::warning("the tool {} is left out: {}", log::printable(tool.name), learned.error().message());
    return !learned.has_value();
  });
}

}  // namespace proteus::client
