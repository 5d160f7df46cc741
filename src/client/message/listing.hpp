#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/stranger_log.hpp"
#include "client/message/received.hpp"
#include "mcp/method.hpp"
#include "mcp/reply.hpp"

namespace proteus::client {

// One tool, prompt, resource or template: what it is called (name, URI or URI template, decoded), and its
// definition as the server wrote it.
struct Entry {
  std::string name;
  std::string_view definition;
};

// All pages of a list. Moves; the definitions point into `pages`, which may be shared.
struct Listing {
  std::vector<Entry> entries;
  std::vector<std::shared_ptr<const void>> pages;
  // What a modern server says about caching: the shortest time and the narrowest scope of all pages.
  std::optional<mcp::Caching> caching;
  // Of a server that declares the list and does not know the method: what it answered. Nothing is listed then.
  std::optional<Error> unimplemented = {};
};

struct ListLimits {
  std::size_t pages = 1000;
  std::size_t entries = 100'000;
  std::size_t bytes = std::size_t{256} << 20U;
};

// Puts a list together from its pages, which come one by one from a server that is not trusted.
class ListReader {
 public:
  ListReader(mcp::Method method, const ListLimits& limits, std::shared_ptr<StrangerLog> log)
      : method_(method), limits_(limits), log_(std::move(log)) {}

  // Takes a page. The cursor of the next one, as JSON text; nothing where this was the last. Fails where the
  // page is no list, a limit is broken or a cursor returns.
  Result<std::optional<std::string>> add(const Received& page);
  Listing take() { return std::move(listing_); }
  // Of all pages.
  std::size_t bytes() const { return bytes_; }

 private:
  mcp::Method method_;
  ListLimits limits_;
  std::shared_ptr<StrangerLog> log_;
  std::size_t bytes_ = 0;
  std::set<std::string> cursors_;
  Listing listing_;
};

// Whether a server says that it does not have the method of a list. Many declare lists that they do not implement.
bool is_unimplemented(const Error& error);

// The elements of a JSON array that was checked already, as they were written.
Result<std::vector<std::string_view>> elements_of(std::string_view array, std::size_t limit);

}  // namespace proteus::client
