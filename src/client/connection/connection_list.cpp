#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/connection.hpp"

namespace proteus::client {
namespace {

constexpr int kTimeouts = 4;

// Runs `work`, which processes `bytes` bytes: on a background thread if there are many bytes and `background` is not
// null, else on the calling thread.
template <class Work, class Value = std::invoke_result_t<Work&>>
Task<Value> aside(BackgroundThreads* background, std::size_t bytes, Work work) {
  if (background == nullptr) co_return work();
  co_return co_await background->run(bytes, std::move(work));
}

struct Learned {
  Listing listing;  // without the tools whose annotations are invalid
  HeaderParameters mirrors;
};

Learned learn(Listing listing, StrangerLog& log) {
  Learned learned{std::move(listing), {}};
  std::erase_if(learned.listing.entries, [&](const Entry& tool) {
    const auto read = learned.mirrors.learn(tool.name, tool.definition);
    if (!read) log.warning("the tool {} is left out: {}", log::printable(tool.name), read.error().message());
    return !read.has_value();
  });
  return learned;
}

}  // namespace

Task<Result<Listing>> Connection::list(mcp::Method method, RequestOptions options) {
  const Visit visit(*this);
  const auto opened = co_await open(options.authorizer);
  if (!opened) co_return std::unexpected(opened.error());
  if (!mcp::offers((*opened)->offers, method)) co_return Listing{};
  const std::string_view method_name = mcp::to_string(method);
  const auto reader = std::make_shared<ListReader>(method, options_.limits.lists, options_.log);
  std::optional<std::string> cursor;
  const auto page_time = time_of(method, options);
  const auto end = std::chrono::steady_clock::now() + options.list_timeout.value_or(kTimeouts * page_time);
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) co_return std::unexpected(errors::timeout(fmt::format("{}, all pages", method_name)));
    options.timeout = std::min(page_time, left);
    Params params;
    if (cursor) params.members.add(fmt::format(R"("cursor":{})", *cursor));
    auto page = co_await request(method, std::move(params), options);
    if (!page) {
      Listing none;
      if (!cursor && is_unimplemented(page.error())) {
        none.unimplemented = page.error();
        co_return none;
      }
      co_return std::unexpected(page.error());
    }
    const std::size_t size = page->text().size();
    auto next =
        co_await aside(options_.background, size, [reader, page = std::move(*page)] { return reader->add(page); });
    if (!next) co_return std::unexpected(std::move(next.error()));
    cursor = std::move(*next);
  } while (cursor);
  if (method != mcp::Method::tools_list || !mirrors_parameters()) co_return reader->take();
  Learned learned = co_await aside(
      options_.background, reader->bytes(),
      [listing = reader->take(), log = options_.log]() mutable { return learn(std::move(listing), *log); });
  if (!options.authorizer) mirrors_ = std::move(learned.mirrors);
  co_return std::move(learned.listing);
}

bool Connection::mirrors_parameters() const {
  const auto& negotiated = link_.current();
  return negotiated && negotiated->era() == mcp::Era::modern && negotiated->transport->has_headers();
}

}  // namespace proteus::client
